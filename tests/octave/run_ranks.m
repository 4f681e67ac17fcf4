## -*- texinfo -*-
## @deftypefn {} {[@var{status}, @var{out}] =} run_ranks (@var{count}, @var{code}, @var{settings})
## Runs @var{code}, a cell array of lines, in @var{count} concurrent fresh processes of the Octave under test, the ranks
## that @command{mpirun} starts on this machine, with the environment of @var{settings}, a cell array of
## @qcode{"NAME=value"}.  They know @code{rank} (from 0), @code{ranks}, @code{mine (n)}, the places from 1 to n that are
## this rank's, and @code{say (what)}, which prints a line as a whole.  @var{out} is all they printed.
## @end deftypefn

function [status, out] = run_ranks (count, code, settings = {})
  command = getenv ("STENCIL_TEST_OCTAVE");
  file = [tempname() ".m"];
  fid = fopen (file, "w");
  unwind_protect
    folders = {fileparts(mfilename ("fullpath")), ...
               fileparts(file_in_loadpath ("StencilConstantMemory_CUDA.mex"))};
    fprintf (fid, "1;\naddpath ('%s');\n", strrep (folders, "'", "''"){1});
    fprintf (fid, "addpath ('%s');\n", strrep (folders, "'", "''"){2});
    fprintf (fid, "rank = str2double (getenv ('OMPI_COMM_WORLD_RANK')); ranks = %d;\n", count);
    fprintf (fid, "mine = @(n) fix (n * rank / ranks) + 1 : fix (n * (rank + 1) / ranks);\n");
    fprintf (fid, "say = @(what) fdisp (stdout, ['<' what '>']);\n");
    fprintf (fid, "%s\n", code{:});
    fclose (fid);
    line = "env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1";
    for i = 1:numel (settings)
      line = [line, " '", settings{i}, "'"];
    endfor
    line = [line, sprintf(" timeout 120 mpirun --oversubscribe -np %d --mca btl_tcp_if_include lo --mca oob_tcp_if_include lo ", count)];
    [status, out] = system ([line, command, " --norc --quiet ", file, " 2>&1 </dev/null"]);
  unwind_protect_cleanup
    unlink (file);
  end_unwind_protect
endfunction
