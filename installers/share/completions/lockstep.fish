# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_lockstep_global_optspecs
    string join \n content= data= compile-time-limit= h/help V/version
end

function __fish_lockstep_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_lockstep_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_lockstep_using_subcommand
    set -l cmd (__fish_lockstep_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c lockstep -n "__fish_lockstep_needs_command" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_needs_command" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_needs_command" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_needs_command" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_needs_command" -s V -l version -d 'Print version'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "list" -d 'List the course: weeks and days, labs, practice problems, reference pages'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "practice" -d 'Practice problems, and the one to try next'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "review" -d 'What you remember of the quizzes, and what is due for review'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "check" -d 'Compile a day\'s kernel and judge it'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "answer" -d 'Answer questions about kernels whose source is shut, by what the emulator counted of them'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "bench" -d 'Judge a day\'s kernel, then time it (GPU) or count its work (emulator)'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "profile" -d 'Count what a day\'s kernel does: on the emulator, and with Nsight Compute on a GPU, side by side'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "compile" -d 'Compile a file: diagnostics, registers, PTX, cubin or SASS'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "run" -d 'Run a free kernel once with buffers described by a spec file'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "decode" -d 'Let the small model write with your attention kernel over a quantized cache'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "open" -d 'Open the window, with a kernel that `lockstep export` wrote'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "devices" -d 'List devices that kernels can run on'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "doctor" -d 'Check whether this machine is ready, and say how to fix what is not'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "measure" -d 'Measure this machine: matrix products on the CPU and in CUDA\'s library, copies'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "setup" -d 'Install the CUDA compiler (NVRTC) into Lockstep\'s data folder'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "exec" -d 'Run a program with the emulator as its CUDA driver'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "export" -d 'Take something of the course elsewhere: a program, notebooks, notes for instructors'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "dev" -d 'Tools for authors of the course'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "worker" -d 'Serve jobs over standard input and output, for a window or terminal elsewhere'
complete -c lockstep -n "__fish_lockstep_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -l map -d 'What leads to what: units by what they build on'
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -l json -d 'Print one JSON object (app/JSON.md, "list")'
complete -c lockstep -n "__fish_lockstep_using_subcommand list" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l family -d 'Problems of one family, for example reductions' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l difficulty -d 'Problems of one difficulty, 1 to 3' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l concept -d 'Problems that train a concept; a part of its name is enough' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l next -d 'The problem to try next, by your own results'
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l open -d 'Only those that you have not solved'
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -l json -d 'Print one JSON object (app/JSON.md, "practice")'
complete -c lockstep -n "__fish_lockstep_using_subcommand practice" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -l questions -d 'Every question, not concepts alone'
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -l json -d 'Print one JSON object (app/JSON.md, "review")'
complete -c lockstep -n "__fish_lockstep_using_subcommand review" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l kernel -d 'A file, or `scaffold`, `solution`, `reference`, `wrong/NAME`, `experiments/NAME` [default: your own text, else the scaffold]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l exercise -d 'An exercise of the day other than its main one' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l hint -d 'Which step of the hint to show: 1 is a nudge, the last is nearly the answer' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -l json -d 'Print one JSON object (app/JSON.md, "check")'
complete -c lockstep -n "__fish_lockstep_using_subcommand check" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l exercise -d 'Which of its answer exercises [default: the first]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l seed -d 'Draw the same kernels again' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l reply -d 'Answer one kernel\'s questions, in order: `a=latency,bytes_in_flight`' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -l json -d 'Print one JSON object (app/JSON.md, "answer")'
complete -c lockstep -n "__fish_lockstep_using_subcommand answer" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l ladder -d 'Time every rung of a ladder, for example matmul-bf16, beside the vendor\'s library; `matmul` stands for all that begin so, `all` for all' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l rung -d 'One rung of the ladder: its number or file' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l kernel -d 'A file, or `scaffold`, `solution`, `reference`, `wrong/NAME`, `experiments/NAME` [default: your own text, else the scaffold]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l exercise -d 'An exercise of the day other than its main one' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l rivals -d 'Also time the kernel, or a ladder\'s last rung, beside PyTorch and CUB, in turns, in the Python that has them'
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l trust-scripts -d 'Let a `rivals.py` run that did not come with Lockstep: it can do all that you can'
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l ceilings -d 'Measure what this machine can do at most: bandwidths, arithmetic rates, latencies'
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -l json -d 'Print one JSON object (app/JSON.md, "bench")'
complete -c lockstep -n "__fish_lockstep_using_subcommand bench" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l kernel -d 'A file, or `scaffold`, `solution`, `reference`, `wrong/NAME`, `experiments/NAME` [default: your own text, else the scaffold]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l exercise -d 'An exercise of the day other than its main one' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l command -d 'Print the command that has Nsight Compute count this kernel, and run nothing'
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -l json -d 'Print one JSON object (app/JSON.md, "profile")'
complete -c lockstep -n "__fish_lockstep_using_subcommand profile" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l arch -d 'Architecture, for example sm_90a, sm_120a' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l emit -d 'What to write beside diagnostics and resources' -r -f -a "ptx\t''
cubin\t''
sass\t''"
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -s o -l output -d 'Where to write it [default: standard output; a cubin needs a file]' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -l json -d 'Print one JSON object (app/JSON.md, "compile")'
complete -c lockstep -n "__fish_lockstep_using_subcommand compile" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l spec -d 'What the kernel takes: a file like `exercise.toml` (kernels/README.md), of which entry, buffers and launch are needed [default: guessed from the kernel\'s parameters]' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l entry -d 'Which kernel of the file to guess a spec for, as C++ calls it: `scale`, `math::scale`, `scale<float, 4>`' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l write-spec -d 'Write the guessed spec to a file to start from, and run nothing' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l size -d 'Size variables, as in `--size n=1000` or `--size m=3,n=4`; the others are as at the spec\'s first size' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l against -d 'Another kernel with the same parameters: its outputs are what is expected' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l input -d 'What a buffer holds before the run, from a file of numpy.save' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l output -d 'Write an output to a file that numpy.load reads' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l set -d 'Values of a `__constant__` variable: `--set taps=0.25,0.5,0.25` or `--set taps=FILE.npy`' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l time-limit -d 'Longest time that one size may take, in seconds [default: 8]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l all-sizes -d 'Run at every size of `sizes.check`'
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l allow-nan -d 'NaN and infinities in the outputs are what the kernel is for'
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l allow-partial -d 'The kernel writes a part of its outputs only'
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -l json -d 'Print one JSON object (app/JSON.md, "run")'
complete -c lockstep -n "__fish_lockstep_using_subcommand run" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l model -d 'Which model writes: the course\'s own, or SmolLM2-135M, which `lockstep setup --model smollm2` fetches' -r -f -a "course\t''
smollm2\t''"
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l cache -d 'How keys and values are stored: fp16, bf16, fp8, k8v4 (keys e4m3, values NVFP4), nvfp4 or int4' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l kernel -d 'The attention: a file, or for k8v4 `scaffold`, `solution`, `reference` or `wrong/NAME` of week 4 day 7 [default: the course\'s]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l prompt -d 'What the text begins with' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l tokens -d 'Tokens to write; of the course\'s model a token is a byte' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l batch -d 'Write this many texts at once, which share each launch of the attention, as an engine serves several people; with --temperature above 0 each is drawn by itself' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l temperature -d '0 takes the most probable byte each time, 1 draws as the model says, in between is more careful (--seed draws others)' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l perplexity -d 'Measure perplexity on held-out text with this cache and with fp16, and write nothing (on the CPU, no kernel)'
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l lines -d 'Print one line of JSON about the run, then one for each byte with its time'
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -l json -d 'Print one JSON object (app/JSON.md, "decode")'
complete -c lockstep -n "__fish_lockstep_using_subcommand decode" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand open" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand open" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand open" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand open" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l remote -d 'List the devices of this remote machine' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l add -d 'Remember a remote machine: a name and the command that starts `lockstep worker` there' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l remove -d 'Forget a remote machine' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -l json -d 'Print one JSON object (app/JSON.md, "devices")'
complete -c lockstep -n "__fish_lockstep_using_subcommand devices" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -l quiz -d 'Also ask a few questions, for the pace'
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -l json -d 'Print one JSON object (app/JSON.md, "doctor")'
complete -c lockstep -n "__fish_lockstep_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l n -d 'Edge of the matrices; may be given several times [default: the program\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l record -d 'Also write a recording, with machine and date, for `assets/recorded/`' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -l lines -d 'Print one line of JSON for each result, as a Python rung does'
complete -c lockstep -n "__fish_lockstep_using_subcommand measure" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l model -d 'Fetch a language model for `lockstep decode --model` in place of the compiler' -r -f -a "smollm2\t''"
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l force -d 'Install even where a CUDA toolkit or Python package has NVRTC'
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -l again -d 'Remove what was installed before and install it again'
complete -c lockstep -n "__fish_lockstep_using_subcommand setup" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l arch -d 'Compute capability that the emulated device shows, for example sm_90 (default: LOCKSTEP_ARCH, else sm_90, or that of the first module that sm_90 cannot run)' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l checks -d 'Turn races, uninitialised reads and barrier misuse into launch failures with a description'
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -l print-library -d 'Print the path of the driver library and run nothing'
complete -c lockstep -n "__fish_lockstep_using_subcommand exec" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -f -a "program" -d 'A program of its own around an exercise\'s kernel: for nvcc, or for the driver API with no toolkit'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -f -a "pytorch" -d 'A Python package: the kernel as a PyTorch operation, with tests and a benchmark'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -f -a "notebook" -d 'Jupyter notebooks of a day, a week or the whole course'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -f -a "instructor" -d 'Notes for those who teach the course, as one page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and not __fish_seen_subcommand_from program pytorch notebook instructor help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l exercise -d 'An exercise other than the main one' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l kernel -d 'A file, or `reference`, `solution`, `scaffold` [default: your own text, else the scaffold]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -s o -l output -l out -d 'Folder to write; must be empty or absent' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l api -d 'Which of CUDA\'s two interfaces the program uses' -r -f -a "runtime\t'`main.cu` for nvcc: cudaMalloc, cudaMemcpy, `<<<grid, block>>>`'
driver\t'`main.cpp` for any C++ compiler: the driver is loaded at run time, the kernel is PTX'"
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l arch -d 'Architecture of the PTX of a driver program' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from program" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l exercise -d 'An exercise other than the main one' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l kernel -d 'A file, or `reference`, `solution`, `scaffold` [default: your own text, else the scaffold]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -s o -l output -l out -d 'Folder to write; must be empty or absent' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l arch -d 'Architectures to compile for [default: the exercise\'s, else sm_80, sm_90, sm_100 and sm_120]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from pytorch" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from notebook" -s o -l output -d 'Folder to write into; notebooks of the same name are replaced' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from notebook" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from notebook" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from notebook" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from notebook" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from instructor" -s o -l output -d 'File to write: `.html` for a page to print, `.md` for its text' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from instructor" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from instructor" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from instructor" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from instructor" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "program" -d 'A program of its own around an exercise\'s kernel: for nvcc, or for the driver API with no toolkit'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "pytorch" -d 'A Python package: the kernel as a PyTorch operation, with tests and a benchmark'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "notebook" -d 'Jupyter notebooks of a day, a week or the whole course'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "instructor" -d 'Notes for those who teach the course, as one page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand export; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "check" -d 'Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "others" -d 'Judge the kernels that other people would write: right ones must pass, wrong ones be rejected with helpful words'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "new-day" -d 'Make both halves of a day from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "new-lab" -d 'Make both halves of a lab from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "new-page" -d 'Make a reference page from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "new-problem" -d 'Make both halves of a practice problem from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "bench-window" -d 'Measure the window: start, frames, idleness, memory, size'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "screenshots" -d 'Take the README\'s pictures of the window'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "recording" -d 'Record the window while a kernel is typed, found wrong, mended and passed, as an animated picture'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "fast-paths" -d 'Run the course\'s kernels without the emulator\'s fast paths: all must come to the same, or how long each takes without'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "cheat-sheet" -d 'List all keys, or write them as a page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "latency" -d 'Time the way from an edit to its verdict, and recovery from kernels that hang or crash'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "verify-counters" -d 'Compare the emulator\'s memory counters with the hardware\'s'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "verify-instructions" -d 'Compare the emulator\'s instructions with this machine\'s GPU, result by result'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and not __fish_seen_subcommand_from check others new-day new-lab new-page new-problem bench-window screenshots recording fast-paths cheat-sheet latency verify-counters verify-instructions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l seed -d 'Judge with inputs of this seed: the answer to the same course is the same each time' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l jobs -d 'How many kernels at a time [default: one for each core]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l device -d 'Where: emulator, or gpu, gpu:N, beside which the emulator\'s checks still run; counters are the emulator\'s' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -l again -d 'Judge again what this program has judged before; on a GPU all are'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from check" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l seed -d 'Judge with inputs of this seed: the answer to the same course is the same each time' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l jobs -d 'How many kernels at a time [default: one for each core]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l device -d 'Where: emulator, or gpu, gpu:N, beside which the emulator\'s checks still run; counters are the emulator\'s' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -l again -d 'Judge again what this program has judged before; on a GPU all are'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from others" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-day" -l title -d 'Its title, where it has none yet' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-day" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-day" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-day" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-day" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-lab" -l title -d 'Its title, where it has none yet' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-lab" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-lab" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-lab" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-lab" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-page" -l title -d 'Its title, where it has none yet' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-page" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-page" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-page" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-page" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-problem" -l title -d 'Its title, where it has none yet' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-problem" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-problem" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-problem" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from new-problem" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l starts -d 'Starts of the window for each renderer' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l frames -d 'Frames timed in the busiest layout' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l lines -d 'Lines of the file in the editor' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l idle-s -d 'Seconds of idleness' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l rival -d 'Another program to start as often and to leave idle as long, as NAME=COMMAND; its time, and then ours too, is until the window is mapped (needs xdotool)' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l child -d 'What a child process of this command does' -r -f -a "first-frame\t''
idle\t''
every-day\t''"
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l renderer -r -f -a "glow\t''
wgpu\t''"
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -l egui-demo -d 'Also egui\'s own demo app, built for this in the same profile (needs the source, cargo and xdotool)'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from bench-window" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from screenshots" -l out -d 'Folder for the pictures' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from screenshots" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from screenshots" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from screenshots" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from screenshots" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from recording" -l out -d 'The file to write' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from recording" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from recording" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from recording" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from recording" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l sample -d 'Only so many kernels, spread over all' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l only -d 'Only without these fast paths, each by itself: names with commas between' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l times -d 'Time right kernels in N rounds, each way in turns, and print how many times as long they take without each fast path' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l seed -d 'Inputs of this seed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -l alone -d 'Also without each fast path by itself'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from fast-paths" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from cheat-sheet" -l html -d 'Write a page to print (HTML) into this file; without it the keys are listed here' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from cheat-sheet" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from cheat-sheet" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from cheat-sheet" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from cheat-sheet" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l edits -d 'Edits to time' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l device -d 'emulator, gpu, gpu:N, or a remote machine: NAME, NAME:gpu:N, NAME:emulator' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l arch -d 'Architecture to compile for [default: the device\'s own]' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l seed -d 'Repeat a run with the seed that it printed' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from latency" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l gpu -d 'Measure on this machine\'s GPU with Nsight Compute instead of using what an H200 counted'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l launch-only -d 'Launch the probes on the GPU and print nothing (what Nsight Compute runs)'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -l all -d 'Show launches that agree too'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-counters" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l only -d 'Only instructions whose name contains this' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l group -d 'Only one family, as in the summary' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l emulator-arch -d 'Compare the emulator with itself, for this architecture: shows that every probe loads and runs' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l record -d 'Keep what the GPU (or the emulator, with --emulator-arch) answered in this file: a digest of each form\'s results and some cases; of two machines\' emulators the files must be the same' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l ptx -d 'Write the modules to this folder instead of running them' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l worker-from -d 'Begin with this instruction and print events: what runs in a process of its own' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l gpu -d 'Compare with this machine\'s GPU (without it, with the GPU when there is one)'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l all -d 'Show instructions that agree too'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -l json -d 'Print one JSON object with every comparison and the first differing cases'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from verify-instructions" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "check" -d 'Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "others" -d 'Judge the kernels that other people would write: right ones must pass, wrong ones be rejected with helpful words'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "new-day" -d 'Make both halves of a day from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "new-lab" -d 'Make both halves of a lab from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "new-page" -d 'Make a reference page from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "new-problem" -d 'Make both halves of a practice problem from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "bench-window" -d 'Measure the window: start, frames, idleness, memory, size'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "screenshots" -d 'Take the README\'s pictures of the window'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "recording" -d 'Record the window while a kernel is typed, found wrong, mended and passed, as an animated picture'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "fast-paths" -d 'Run the course\'s kernels without the emulator\'s fast paths: all must come to the same, or how long each takes without'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "cheat-sheet" -d 'List all keys, or write them as a page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "latency" -d 'Time the way from an edit to its verdict, and recovery from kernels that hang or crash'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "verify-counters" -d 'Compare the emulator\'s memory counters with the hardware\'s'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "verify-instructions" -d 'Compare the emulator\'s instructions with this machine\'s GPU, result by result'
complete -c lockstep -n "__fish_lockstep_using_subcommand dev; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand worker" -l role -d '`compile` or `device`: one part of the engine; without it the whole engine, for a remote user' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand worker" -l content -d 'Read the course from this folder (with `curriculum/` and `kernels/`) over the built-in one' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand worker" -l data -d 'Keep texts, progress and fetched tools in this folder (also: LOCKSTEP_DATA)' -r -F
complete -c lockstep -n "__fish_lockstep_using_subcommand worker" -l compile-time-limit -d 'Longest time that one compilation may take [default: 20]; the time in which a busy machine does not let the compiler run is not counted' -r
complete -c lockstep -n "__fish_lockstep_using_subcommand worker" -s h -l help -d 'Print help'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "list" -d 'List the course: weeks and days, labs, practice problems, reference pages'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "practice" -d 'Practice problems, and the one to try next'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "review" -d 'What you remember of the quizzes, and what is due for review'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "check" -d 'Compile a day\'s kernel and judge it'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "answer" -d 'Answer questions about kernels whose source is shut, by what the emulator counted of them'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "bench" -d 'Judge a day\'s kernel, then time it (GPU) or count its work (emulator)'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "profile" -d 'Count what a day\'s kernel does: on the emulator, and with Nsight Compute on a GPU, side by side'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "compile" -d 'Compile a file: diagnostics, registers, PTX, cubin or SASS'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "run" -d 'Run a free kernel once with buffers described by a spec file'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "decode" -d 'Let the small model write with your attention kernel over a quantized cache'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "open" -d 'Open the window, with a kernel that `lockstep export` wrote'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "devices" -d 'List devices that kernels can run on'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "doctor" -d 'Check whether this machine is ready, and say how to fix what is not'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "measure" -d 'Measure this machine: matrix products on the CPU and in CUDA\'s library, copies'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "setup" -d 'Install the CUDA compiler (NVRTC) into Lockstep\'s data folder'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "exec" -d 'Run a program with the emulator as its CUDA driver'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "export" -d 'Take something of the course elsewhere: a program, notebooks, notes for instructors'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "dev" -d 'Tools for authors of the course'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "worker" -d 'Serve jobs over standard input and output, for a window or terminal elsewhere'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and not __fish_seen_subcommand_from list practice review check answer bench profile compile run decode open devices doctor measure setup exec export dev worker help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "program" -d 'A program of its own around an exercise\'s kernel: for nvcc, or for the driver API with no toolkit'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "pytorch" -d 'A Python package: the kernel as a PyTorch operation, with tests and a benchmark'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "notebook" -d 'Jupyter notebooks of a day, a week or the whole course'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from export" -f -a "instructor" -d 'Notes for those who teach the course, as one page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "check" -d 'Verify the course: files, scaffolds that must fail, references that must pass, wrong kernels that must be caught'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "others" -d 'Judge the kernels that other people would write: right ones must pass, wrong ones be rejected with helpful words'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "new-day" -d 'Make both halves of a day from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "new-lab" -d 'Make both halves of a lab from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "new-page" -d 'Make a reference page from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "new-problem" -d 'Make both halves of a practice problem from a template; existing files are kept'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "bench-window" -d 'Measure the window: start, frames, idleness, memory, size'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "screenshots" -d 'Take the README\'s pictures of the window'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "recording" -d 'Record the window while a kernel is typed, found wrong, mended and passed, as an animated picture'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "fast-paths" -d 'Run the course\'s kernels without the emulator\'s fast paths: all must come to the same, or how long each takes without'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "cheat-sheet" -d 'List all keys, or write them as a page to print'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "latency" -d 'Time the way from an edit to its verdict, and recovery from kernels that hang or crash'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "verify-counters" -d 'Compare the emulator\'s memory counters with the hardware\'s'
complete -c lockstep -n "__fish_lockstep_using_subcommand help; and __fish_seen_subcommand_from dev" -f -a "verify-instructions" -d 'Compare the emulator\'s instructions with this machine\'s GPU, result by result'
