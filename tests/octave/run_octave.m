## -*- texinfo -*-
## @deftypefn {} {[@var{status}, @var{out}] =} run_octave (@var{code}, @var{settings}, @var{terminal})
## Runs @var{code} (a char row, or a cell array of lines) in a fresh process of
## the Octave under test, with the paths of this one.  @var{settings} is a cell
## array of @qcode{"NAME=value"} for its environment.  @var{out} is all it
## printed, warnings and errors included; @var{status} is its exit status.  With
## @var{terminal} it prints to a terminal, by way of @code{script}.
## @end deftypefn

function [status, out] = run_octave (code, settings = {}, terminal = false)
  command = getenv ("STENCIL_TEST_OCTAVE");
  if (isempty (command))
    error ("run_octave: STENCIL_TEST_OCTAVE is not set: start the tests with tests/run-octave");
  endif
  file = [tempname() ".m"];
  fid = fopen (file, "w");
  if (fid < 0)
    error ("run_octave: cannot write %s", file);
  endif
  unwind_protect
    ## The leading 1 makes it a script also where the code begins with a function.
    folders = {fileparts(mfilename ("fullpath")), ...
               fileparts(file_in_loadpath ("StencilConstantMemory_CUDA.mex"))};
    fprintf (fid, "1;\n");
    fprintf (fid, "addpath ('%s');\n", strrep (folders, "'", "''"){:});
    fprintf (fid, "%s\n", cellstr (code){:});
    fclose (fid);
    line = "env";
    for i = 1:numel (settings)
      line = [line, " '", settings{i}, "'"];
    endfor
    line = [line, " ", command, " --norc --quiet ", file];
    if (terminal)
      line = ["script --quiet --return --command '", strrep(line, "'", "'\\''"), "' /dev/null </dev/null"];
    endif
    [status, out] = system ([line, " 2>&1"]);
    if (terminal)
      out = strrep (out, "\r\n", "\n");
    endif
  unwind_protect_cleanup
    delete (file);
  end_unwind_protect
endfunction
