//! Text, tooltip, shortcuts and menu of each action.

use super::keys::{after_lead, key};
use super::{ALT_SHIFT, Action, CTRL, CTRL_SHIFT, Info, Keys, Menu, Scope};
use egui::{Key, Modifiers};

/// Shortcuts of a row.
macro_rules! keys {
    ($($modifiers:expr, $key:ident);*) => { const { &[$(key($modifiers, Key::$key)),*] } };
}

/// The shortcut of a row that is two keys: Ctrl+K, and then this one.
macro_rules! then {
    ($key:ident) => {
        const { &[after_lead(Key::$key)] }
    };
}

impl Action {
    /// The action's row of the table.
    pub const fn info(self) -> Info {
        const fn row(
            menu: Menu,
            scope: Scope,
            text: &'static str,
            tooltip: &'static str,
            shortcuts: &'static [Keys],
        ) -> Info {
            Info { text, tooltip, shortcuts, menu, scope }
        }
        use Menu::{Day, Edit, File, Help, Run, View};
        use Scope::{Editor, Global};
        const NONE: Modifiers = Modifiers::NONE;
        const ALT: Modifiers = Modifiers::ALT;
        const SHIFT: Modifiers = Modifiers::SHIFT;
        match self {
            Action::Check => row(
                Run,
                Global,
                "Check",
                "Compile the kernel and judge it on fresh inputs of awkward sizes",
                keys![CTRL, Enter],
            ),
            Action::Benchmark => row(
                Run,
                Global,
                "Benchmark",
                "Judge the kernel, then time it on a GPU or count what it does on the emulator",
                keys![CTRL, B],
            ),
            Action::Profile => row(
                Run,
                Global,
                "Profile with Nsight Compute",
                "Count what the kernel does on the emulator and, with NVIDIA's profiler, on this machine's GPU beside it",
                keys![CTRL_SHIFT, B],
            ),
            Action::Stop => row(Run, Global, "Stop", "End the running kernel", keys![CTRL, Period]),
            Action::Sandbox => {
                row(Run, Global, "Sandbox", "Write a kernel of your own and run it at sizes that you choose", then![X])
            }
            Action::ImportKernel => {
                row(File, Global, "Import Kernel…", "Replace the text with a file. Undo restores yours", keys![CTRL, O])
            }
            Action::ExportKernel => {
                row(File, Global, "Export Kernel…", "Save a copy of the text as a file", keys![CTRL, S])
            }
            Action::OpenElsewhere => row(
                File,
                Global,
                "Open in Your Editor",
                "Write the kernel to a file, open it in your own editor, and check it at each save",
                keys![CTRL_SHIFT, O],
            ),
            Action::CloseElsewhere => {
                row(File, Global, "Stop Watching the File", "Stop following the file in your own editor", then![O])
            }
            Action::ResetToScaffold => row(
                File,
                Global,
                "Reset to Scaffold",
                "Go back to the text that the day starts from. Undo restores yours",
                keys![CTRL_SHIFT, Backspace],
            ),
            Action::ExportState => {
                row(File, Global, "Export Everything…", "Save texts, runs, answers and settings as one file", then![E])
            }
            Action::ImportState => row(
                File,
                Global,
                "Import Everything…",
                "Import a file from another computer. What it replaces is kept aside",
                then![I],
            ),
            Action::Profiles => {
                row(File, Global, "Profiles…", "Texts and progress of several people on this machine", then![P])
            }
            Action::Review => {
                row(Day, Global, "Review", "Answer the missed questions that are due today", keys![CTRL_SHIFT, R])
            }
            Action::ResetDay => row(
                Day,
                Global,
                "Reset This Day…",
                "Forget steps, answers and passed checks of the day, and go back to its scaffold",
                then![Backspace],
            ),
            Action::ShowVisualization => {
                row(View, Global, "Visualization", "Show the day's picture", keys![CTRL_SHIFT, I])
            }
            Action::ShowCompare => row(
                View,
                Global,
                "Compare",
                "Show what differs from the scaffold, the last passing version, the solution or any run",
                keys![CTRL_SHIFT, M],
            ),
            Action::NextDifference => {
                row(View, Global, "Next Difference", "Go to the next difference", keys![NONE, F7])
            }
            Action::PreviousDifference => {
                row(View, Global, "Previous Difference", "Go to the previous difference", keys![SHIFT, F7])
            }
            Action::ShowCompiled => {
                row(View, Global, "PTX & SASS", "Show what the compiler turned the kernel into", keys![CTRL_SHIFT, A])
            }
            Action::LineColors => row(
                View,
                Global,
                "Color by Line",
                "Show each line of the kernel and the instructions that it became in one color",
                then![J],
            ),
            Action::ShowPlots => {
                row(View, Global, "Plots", "Show times and counts of all versions", keys![CTRL_SHIFT, T])
            }
            Action::CopyPlot => row(View, Global, "Copy Plot as CSV", "Copy the runs of the plot as a table", then![C]),
            Action::SavePlotSvg => {
                row(View, Global, "Save Plot as SVG…", "Save the plot as a vector picture", then![V])
            }
            Action::SavePlotPng => {
                row(View, Global, "Save Plot as PNG…", "Save the plot as it is on the screen", then![N])
            }
            Action::ShowLog => row(View, Global, "Log", "Show all messages", keys![CTRL_SHIFT, G]),
            Action::ClearLog => row(View, Global, "Clear Log", "Delete all messages", then![G]),
            Action::ShowProgress => {
                row(View, Global, "Progress", "Show what is done, passed and due", keys![CTRL_SHIFT, D])
            }
            Action::ShowGallery => row(View, Global, "Pictures", "All pictures of the course on one page", then![A]),
            Action::ShowCourseMap => {
                row(View, Global, "Course Map", "How days and labs build on one another", then![T])
            }
            Action::WrapLines => row(
                View,
                Global,
                "Wrap Lines",
                "Break long lines of the kernel at the edge of the editor. The text itself does not change",
                then![Y],
            ),
            Action::ShowGlossary => row(View, Global, "Glossary", "All terms that the course explains", then![W]),
            Action::SearchCourse => row(
                View,
                Global,
                "Search the Course",
                "Find words in lessons, glossary, quizzes and kernels",
                keys![CTRL_SHIFT, F],
            ),
            Action::Projector => {
                row(View, Global, "Projector Mode", "Large type and high contrast, for a lecture", keys![NONE, F12])
            }
            Action::ReducedMotion => {
                row(View, Global, "Reduced Motion", "No animation. Pictures go step by step", then![Period])
            }
            Action::SaveCheatSheet => {
                row(Help, Global, "Save the Cheat Sheet…", "All keys as a page to print", then![K])
            }
            Action::Tour => row(Help, Global, "Tour", "The window in two minutes", keys![SHIFT, F1]),
            Action::ReadyCheck => row(
                Help,
                Global,
                "Ready Check",
                "What this machine has, and how to get what is missing",
                keys![CTRL_SHIFT, Y],
            ),
            Action::Quit => row(File, Global, "Quit", "Close Lockstep. Everything is saved", keys![CTRL, Q]),
            Action::Undo => row(Edit, Editor, "Undo", "Undo the last edit", keys![CTRL, Z]),
            Action::Redo => row(Edit, Editor, "Redo", "Redo the edit", keys![CTRL_SHIFT, Z; CTRL, Y]),
            Action::Find => row(Edit, Global, "Find", "Search in the kernel", keys![CTRL, F]),
            Action::Replace => row(Edit, Global, "Replace", "Search and replace in the kernel", keys![CTRL, H]),
            Action::FindNext => row(Edit, Global, "Find Next", "Go to the next match", keys![NONE, F3]),
            Action::FindPrevious => row(Edit, Global, "Find Previous", "Go to the previous match", keys![SHIFT, F3]),
            Action::GoToLine => row(Edit, Global, "Go to Line…", "Jump to a line by number", keys![CTRL, G]),
            Action::NextProblem => {
                row(Edit, Global, "Next Problem", "Jump to the next error or fault", keys![NONE, F8])
            }
            Action::Complete => row(
                Edit,
                Editor,
                "Complete Word",
                "List matching words of this text and of CUDA",
                const { &[key(Modifiers::CTRL, Key::Space), after_lead(Key::Space)] },
            ),
            Action::Parameters => row(
                Edit,
                Editor,
                "Show Parameters",
                "Show what the CUDA function around the cursor takes. Typing its bracket does it too. Escape hides it",
                keys![Modifiers::CTRL.plus(Modifiers::SHIFT), Space],
            ),
            Action::Explain => {
                row(Edit, Editor, "Explain Word", "Explain the word at the cursor and its line", keys![CTRL, I])
            }
            Action::FoldHints => {
                row(Edit, Editor, "Fold Hints", "Hide the text of every TODO, or show it all", keys![CTRL, M])
            }
            Action::CloseBrackets => row(
                Edit,
                Global,
                "Close Brackets",
                "Type the closing bracket or quote for you. Backspace removes both",
                then![B],
            ),
            Action::GoToDefinition => row(
                Edit,
                Editor,
                "Go to Definition",
                "Jump to where the name at the cursor is declared in this text",
                keys![CTRL, F12],
            ),
            Action::Rename => {
                row(Edit, Global, "Rename…", "Rename the name at the cursor everywhere in this text", keys![NONE, F2])
            }
            Action::Format => row(
                Edit,
                Global,
                "Format",
                "Format the text with clang-format, if this machine has it. Undo restores yours",
                then![F],
            ),
            Action::QuickFix => {
                row(Edit, Global, "Quick Fix", "Fix the error nearest to the cursor, if there is a known fix", then![Q])
            }
            Action::ToggleComment => {
                row(Edit, Editor, "Toggle Comment", "Comment the lines, or uncomment them", keys![CTRL, Slash])
            }
            Action::DuplicateLine => row(Edit, Editor, "Duplicate Line", "Copy the line below itself", keys![CTRL, D]),
            Action::DeleteLine => row(Edit, Editor, "Delete Line", "Remove the line", keys![CTRL_SHIFT, K]),
            Action::MoveLineUp => row(Edit, Editor, "Move Line Up", "Swap with the line above", keys![ALT, ArrowUp]),
            Action::MoveLineDown => {
                row(Edit, Editor, "Move Line Down", "Swap with the line below", keys![ALT, ArrowDown])
            }
            Action::NextHint => row(Day, Global, "Show a Hint", "Reveal the next hint", keys![CTRL_SHIFT, H]),
            Action::ShowSolution => row(
                Day,
                Global,
                "Show the Solution",
                "Open our solution beside yours. Asks first until yours passes",
                keys![CTRL_SHIFT, S],
            ),
            Action::PreviousDay => row(Day, Global, "Previous Day", "Open the previous day", keys![ALT, PageUp]),
            Action::NextDay => row(Day, Global, "Next Day", "Open the next day", keys![ALT, PageDown]),
            Action::StepChallenge => row(Day, Global, "1 Challenge", "What the day asks", keys![CTRL, Num1]),
            Action::StepExplore => row(Day, Global, "2 Explore", "See it move", keys![CTRL, Num2]),
            Action::StepConcept => row(Day, Global, "3 Concept", "Why it is so", keys![CTRL, Num3]),
            Action::StepCodeIt => row(Day, Global, "4 Code It", "Write the kernel", keys![CTRL, Num4]),
            Action::StepVerify => {
                row(Day, Global, "5 Verify", "Checks, timing, quiz and reflection", keys![CTRL, Num5])
            }
            Action::NextPane => {
                row(View, Global, "Next Pane", "Move the keyboard to the next pane", keys![NONE, F6; CTRL, Tab])
            }
            Action::PreviousPane => row(
                View,
                Global,
                "Previous Pane",
                "Move the keyboard to the pane before",
                keys![SHIFT, F6; CTRL_SHIFT, Tab],
            ),
            Action::ToggleCourse => {
                row(View, Global, "Course", "Show or hide the weeks and days", keys![CTRL_SHIFT, E])
            }
            Action::ToggleLesson => row(View, Global, "Lesson", "Show or hide the lesson", keys![CTRL_SHIFT, L]),
            Action::ToggleResults => row(View, Global, "Results", "Show or hide the results", keys![CTRL, J]),
            Action::LayoutRead => row(View, Global, "Read Layout", "Course, lesson and picture", keys![NONE, F9]),
            Action::LayoutCode => row(View, Global, "Code Layout", "Lesson, editor and results", keys![NONE, F10]),
            Action::LayoutProfile => {
                row(View, Global, "Profile Layout", "Editor beside PTX and SASS, plots and counters", keys![NONE, F11])
            }
            Action::ResetLayout => {
                row(View, Global, "Reset Layout", "Put the panes of this layout back where they were", then![R])
            }
            Action::ClosePane => row(View, Global, "Close Pane", "Hide the pane that has the keyboard", keys![CTRL, W]),
            Action::FullSize => row(
                View,
                Global,
                "Full Size",
                "Give the whole window to the pane that has the keyboard, or take it back",
                keys![NONE, F4],
            ),
            Action::MovePane => row(
                View,
                Global,
                "Move Pane",
                "Put the pane that has the keyboard into the next group of tabs",
                then![M],
            ),
            Action::WidenPane => {
                row(View, Global, "Make Pane Wider", "Give the pane more width", keys![ALT_SHIFT, ArrowRight])
            }
            Action::NarrowPane => {
                row(View, Global, "Make Pane Narrower", "Give the pane less width", keys![ALT_SHIFT, ArrowLeft])
            }
            Action::HeightenPane => {
                row(View, Global, "Make Pane Taller", "Give the pane more height", keys![ALT_SHIFT, ArrowUp])
            }
            Action::LowerPane => {
                row(View, Global, "Make Pane Shorter", "Give the pane less height", keys![ALT_SHIFT, ArrowDown])
            }
            Action::ThemeDark => row(View, Global, "Dark Theme", "Light text on dark", then![D]),
            Action::ThemeLight => row(View, Global, "Light Theme", "Dark text on light", then![L]),
            Action::ThemeSystem => row(View, Global, "System Theme", "Follow the desktop's theme", then![S]),
            Action::ZoomIn => row(View, Global, "Zoom In", "Make everything larger", keys![CTRL, Plus; CTRL, Equals]),
            Action::ZoomOut => row(View, Global, "Zoom Out", "Make everything smaller", keys![CTRL, Minus]),
            Action::ZoomReset => row(View, Global, "Actual Size", "Back to 100 %", keys![CTRL, Num0]),
            Action::Settings => {
                row(File, Global, "Settings…", "Theme, zoom, compiler, remote machines", keys![CTRL, Comma])
            }
            Action::Palette => {
                row(Help, Global, "Command Palette…", "Find any command by name", keys![CTRL_SHIFT, P; NONE, F1])
            }
            Action::Shortcuts => {
                row(Help, Global, "Keyboard Shortcuts", "All keys on one page", keys![CTRL, Questionmark])
            }
            Action::About => row(Help, Global, "About Lockstep", "Version and licenses", keys![CTRL, F1]),
        }
    }
}
