//! Every action once: text, tooltip, shortcut and menu. Menus, palette, buttons and the cheat sheet derive from
//! [`Action::info`], and a test walks the list.

mod icons;
mod keys;
mod request;
mod table;

pub use keys::{Keys, LEAD, key_names, keys_text};
pub use request::Command;

use crate::widgets::code_editor::EditorAction;
use egui::Modifiers;

/// Something that a person can do with one key, menu item or button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Check,
    Benchmark,
    Profile,
    Stop,
    Sandbox,
    ImportKernel,
    ExportKernel,
    OpenElsewhere,
    CloseElsewhere,
    ResetToScaffold,
    ExportState,
    ImportState,
    Profiles,
    Quit,
    Undo,
    Redo,
    Find,
    Replace,
    FindNext,
    FindPrevious,
    GoToLine,
    NextProblem,
    QuickFix,
    Complete,
    Parameters,
    Explain,
    GoToDefinition,
    Rename,
    Format,
    FoldHints,
    CloseBrackets,
    ToggleComment,
    DuplicateLine,
    DeleteLine,
    MoveLineUp,
    MoveLineDown,
    NextHint,
    ShowSolution,
    PreviousDay,
    NextDay,
    Review,
    ResetDay,
    StepChallenge,
    StepExplore,
    StepConcept,
    StepCodeIt,
    StepVerify,
    NextPane,
    PreviousPane,
    ToggleCourse,
    ToggleLesson,
    ToggleResults,
    ShowVisualization,
    ShowCompare,
    NextDifference,
    PreviousDifference,
    ShowCompiled,
    LineColors,
    WrapLines,
    ShowPlots,
    CopyPlot,
    SavePlotSvg,
    SavePlotPng,
    ShowLog,
    ClearLog,
    ShowProgress,
    ShowGallery,
    ShowCourseMap,
    ShowGlossary,
    SearchCourse,
    LayoutRead,
    LayoutCode,
    LayoutProfile,
    ResetLayout,
    ClosePane,
    FullSize,
    MovePane,
    WidenPane,
    NarrowPane,
    HeightenPane,
    LowerPane,
    ThemeDark,
    ThemeLight,
    ThemeSystem,
    Projector,
    ReducedMotion,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    Settings,
    Palette,
    Shortcuts,
    SaveCheatSheet,
    Tour,
    ReadyCheck,
    About,
}

/// Where an action stands in the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    File,
    Edit,
    Run,
    Day,
    View,
    Help,
}

impl Menu {
    pub const ALL: [Menu; 6] = [Menu::File, Menu::Edit, Menu::Run, Menu::Day, Menu::View, Menu::Help];

    pub fn title(self) -> &'static str {
        match self {
            Menu::File => "File",
            Menu::Edit => "Edit",
            Menu::Run => "Run",
            Menu::Day => "Day",
            Menu::View => "View",
            Menu::Help => "Help",
        }
    }
}

/// Whose key it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Works everywhere.
    Global,
    /// Works while the code editor has the keyboard; other text boxes have their own.
    Editor,
}

/// What menus, palette and cheat sheet show of an action.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    pub text: &'static str,
    pub tooltip: &'static str,
    pub shortcuts: &'static [Keys],
    pub menu: Menu,
    pub scope: Scope,
}

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);
const ALT_SHIFT: Modifiers = Modifiers::ALT.plus(Modifiers::SHIFT);

impl Action {
    /// Every action, in menu order.
    pub const ALL: [Action; 96] = [
        Action::Check,
        Action::Benchmark,
        Action::Profile,
        Action::Stop,
        Action::Sandbox,
        Action::ImportKernel,
        Action::ExportKernel,
        Action::OpenElsewhere,
        Action::CloseElsewhere,
        Action::ResetToScaffold,
        Action::ExportState,
        Action::ImportState,
        Action::Profiles,
        Action::Undo,
        Action::Redo,
        Action::Find,
        Action::Replace,
        Action::FindNext,
        Action::FindPrevious,
        Action::GoToLine,
        Action::NextProblem,
        Action::QuickFix,
        Action::Complete,
        Action::Parameters,
        Action::Explain,
        Action::GoToDefinition,
        Action::Rename,
        Action::Format,
        Action::FoldHints,
        Action::CloseBrackets,
        Action::ToggleComment,
        Action::DuplicateLine,
        Action::DeleteLine,
        Action::MoveLineUp,
        Action::MoveLineDown,
        Action::NextHint,
        Action::ShowSolution,
        Action::PreviousDay,
        Action::NextDay,
        Action::Review,
        Action::ResetDay,
        Action::StepChallenge,
        Action::StepExplore,
        Action::StepConcept,
        Action::StepCodeIt,
        Action::StepVerify,
        Action::NextPane,
        Action::PreviousPane,
        Action::ToggleCourse,
        Action::ToggleLesson,
        Action::ToggleResults,
        Action::ShowVisualization,
        Action::ShowCompare,
        Action::NextDifference,
        Action::PreviousDifference,
        Action::ShowCompiled,
        Action::LineColors,
        Action::WrapLines,
        Action::ShowPlots,
        Action::CopyPlot,
        Action::SavePlotSvg,
        Action::SavePlotPng,
        Action::ShowLog,
        Action::ClearLog,
        Action::ShowProgress,
        Action::ShowGallery,
        Action::ShowCourseMap,
        Action::ShowGlossary,
        Action::SearchCourse,
        Action::LayoutRead,
        Action::LayoutCode,
        Action::LayoutProfile,
        Action::ResetLayout,
        Action::ClosePane,
        Action::FullSize,
        Action::MovePane,
        Action::WidenPane,
        Action::NarrowPane,
        Action::HeightenPane,
        Action::LowerPane,
        Action::ThemeDark,
        Action::ThemeLight,
        Action::ThemeSystem,
        Action::Projector,
        Action::ReducedMotion,
        Action::ZoomIn,
        Action::ZoomOut,
        Action::ZoomReset,
        Action::Settings,
        Action::Palette,
        Action::Shortcuts,
        Action::SaveCheatSheet,
        Action::Tour,
        Action::ReadyCheck,
        Action::About,
        Action::Quit,
    ];

    /// Whether a line is drawn above it in its menu.
    pub fn begins_group(self) -> bool {
        use Action as A;
        matches!(
            self,
            A::Sandbox
                | A::OpenElsewhere
                | A::ExportState
                | A::Settings
                | A::Quit
                | A::Find
                | A::GoToLine
                | A::Complete
                | A::FoldHints
                | A::ToggleComment
                | A::PreviousDay
                | A::Review
                | A::StepChallenge
                | A::ToggleCourse
                | A::ShowVisualization
                | A::ShowCompiled
                | A::ShowPlots
                | A::ShowLog
                | A::ShowProgress
                | A::LayoutRead
                | A::ClosePane
                | A::ThemeDark
                | A::ZoomIn
                | A::Tour
                | A::About
        )
    }

    /// What the editor does for it, if it is the editor's.
    pub fn editor_action(self) -> Option<EditorAction> {
        Some(match self {
            Action::Undo => EditorAction::Undo,
            Action::Redo => EditorAction::Redo,
            Action::Complete => EditorAction::Complete,
            Action::Parameters => EditorAction::Parameters,
            Action::Explain => EditorAction::Explain,
            Action::FoldHints => EditorAction::ToggleFolds,
            Action::ToggleComment => EditorAction::ToggleComment,
            Action::DuplicateLine => EditorAction::DuplicateLine,
            Action::DeleteLine => EditorAction::DeleteLine,
            Action::MoveLineUp => EditorAction::MoveLineUp,
            Action::MoveLineDown => EditorAction::MoveLineDown,
            Action::GoToDefinition => EditorAction::GoToDefinition,
            _ => return None,
        })
    }

    /// The first shortcut as text, for menus and tooltips.
    pub fn shortcut_text(self, ctx: &egui::Context) -> String {
        self.info().shortcuts.first().map(|shortcut| keys_text(ctx, shortcut)).unwrap_or_default()
    }

    /// Tooltip with the shortcut behind it.
    pub fn tooltip(self, ctx: &egui::Context) -> String {
        let shortcut = self.shortcut_text(ctx);
        let tooltip = self.info().tooltip;
        if shortcut.is_empty() { tooltip.to_owned() } else { format!("{tooltip} ({shortcut})") }
    }
}

#[cfg(test)]
mod tests;
