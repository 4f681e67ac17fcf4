function built = compile_mex ()
%compile_mex  Builds the MEX functions.
%
%   compile_mex
%   BUILT = compile_mex ()
%
%   Builds the library with cargo, and places it beside this
%   file, with a MEX file for each function. The functions are cleared
%   first, so that the next call runs what was built. What the build prints is
%   shown as it comes. A second call, with nothing changed, takes a second. In
%   Octave, what spares large outputs a copy is built as well, for the version
%   whose mkoctfile is found; a line says so where that is not possible.
%
%   Output
%     BUILT  cell array of the MEX files' full names
%
%   What it needs
%     - Linux on x86-64, or on aarch64 with Octave
%     - Rust (rustup installs it) and a C compiler
%     - libclang: on Debian and Ubuntu the package libclang-dev
%     - in Octave its headers: on Debian and Ubuntu the package octave-dev
%     - no CUDA: the kernels are in the library, a GPU needs only its driver
%   On Debian and Ubuntu, ".ci/setup build" in the project's folder installs
%   what is missing, Rust excepted.
%
%   Errors
%     compile_mex:platform  this is not Linux
%     compile_mex:failed    the build failed; the text ends with its last lines
%
%   Examples
%     % In the project's folder
%     addpath ('matlab')
%     compile_mex
%     StencilConstantMemory_CUDA (ones (1, 20), ones (1, 11))
%
%   See also StencilConstantMemory_CUDA, ConstantMemoryDevice_CUDA,
%   StencilConstantMemory_Demo.

  if ~isunix () || ismac ()
    error ('compile_mex:platform', 'The MEX functions are for Linux only.');
  end
  here = fileparts (mfilename ('fullpath'));
  builder = quoted (fullfile (here, 'build-mex'));

  [status, names] = system ([builder ' --list']);
  if status ~= 0
    error ('compile_mex:failed', 'matlab/build-mex does not run: %s', names);
  end
  names = strsplit (strtrim (names), sprintf ('\n'));
  for k = 1:numel (names)
    clear (names{k});
  end

  command = [builder ' ' mexext];
  if exist ('OCTAVE_VERSION', 'builtin') == 0
    command = ['MATLAB_ROOT=' quoted(matlabroot) ' ' command];
  end
  [status, output] = runAndShow (command);
  if status ~= 0
    error ('compile_mex:failed', ...
           ['The build failed. It needs Rust (rustup installs it), a C compiler, libclang and, for ' ...
            'Octave, its headers;\non Debian and Ubuntu, ".ci/setup build" in %s installs what is ' ...
            'missing, Rust excepted.\nThe last lines of the build:\n%s'], ...
           fileparts (here), lastLines (output, 15));
  end

  % The hosts list a folder's files once and look again only on request.
  rehash ();
  files = cellfun (@(name) fullfile (here, [name '.' mexext]), names, 'UniformOutput', false);
  fprintf ('Built: %s\n', files{:});
  if nargout > 0
    built = files;
  end
end

% Runs a command and shows its output as it comes, which neither host can do
% while keeping it in a way that the other one knows.
function [status, output] = runAndShow (command)
  log = tempname ();
  forget = onCleanup (@() delete ([log '*']));
  % MATLAB runs commands in the user's shell, which may be no Bourne shell.
  script = sprintf ('{ %s; echo $? >%s; } </dev/null 2>&1 | tee %s; exit "$(cat %s)"', ...
                    command, quoted ([log '.status']), quoted (log), quoted ([log '.status']));
  status = system (['/bin/sh -c ' quoted(script)]);
  output = fileread (log);
end

function text = lastLines (text, count)
  lines = strsplit (strtrim (text), sprintf ('\n'));
  text = strjoin (lines(max (1, end - count + 1):end), sprintf ('\n'));
end

% A text as one word of a shell's command.
function text = quoted (text)
  text = ['''' strrep(text, '''', '''\''''') ''''];
end
