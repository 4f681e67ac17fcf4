## -*- texinfo -*-
## @deftypefn {} {} try_functions (@var{names}, @var{report}, @var{done})
## Calls each function with a DeviceArray in the place of an ordinary array, in several places, and compares.
##
## The lines of the file @var{report} are @code{NAME PATTERN KIND: TEXT}.  KIND is @code{differs} where the values are
## others, and @code{unexplained} where the ordinary array has a value and the DeviceArray's error does not name
## @code{gather}, or has Octave's own words for an unknown type.  The file @var{done} gets the name of each function ahead of its calls.
## @end deftypefn

function try_functions (names, report, done)
  warning ("off", "all");
  x = [3 1 2; 6 5 4];
  u = DeviceArray (x);
  patterns = {"f (u)", {x}, {u}; "f (u, 2)", {x, 2}, {u, 2}; "f (2, u)", {2, x}, {2, u}; "f (u, u)", {x, x}, {u, u}};
  for i = 1:numel (names)
    name = names{i};
    put_line (done, name);
    for p = 1:rows (patterns)
      [ok, value] = outcome (name, patterns{p,2});
      if (! ok)
        continue;
      endif
      [held_ok, held] = outcome (name, patterns{p,3});
      if (! held_ok)
        if (isempty (strfind (held, "gather")) ...
            || ! isempty (regexp (held, "wrong type argument|method failed|invalid data type specified", "once")))
          put_line (report, sprintf ("%s %s unexplained: %s", name, patterns{p,1}, strtok (held, "\n")));
        endif
      elseif (! same (value, held))
        put_line (report, sprintf ("%s %s differs", name, patterns{p,1}));
      endif
    endfor
  endfor
  put_line (done, "@end");
endfunction

## Returns the first value of a call, or the text of its error.
function [ok, value] = outcome (name, inputs)
  value = [];
  try
    evalc ("value = feval (name, inputs{:});");
    ok = true;
  catch err
    value = err.message;
    ## Functions without a value are called as such.
    ok = ! isempty (strfind (value, "value on the right hand side")) ...
         || ! isempty (strfind (value, "called with too many outputs"));
    if (ok)
      value = [];
      try
        evalc ("feval (name, inputs{:});");
      catch err
        [ok, value] = deal (false, err.message);
      end_try_catch
    endif
  end_try_catch
  close all hidden
  fclose all;
endfunction

function yes = same (a, b)
  a = plain (a);
  b = plain (b);
  if (isfloat (a) && isfloat (b) && ! issparse (a) && ! issparse (b))
    yes = size_equal (a, b) && strcmp (class (a), class (b)) ...
          && (isequaln (a, b) || all (abs (a(:) - b(:)) <= 1e-12 * abs (a(:)) | (isnan (a(:)) & isnan (b(:)))));
  else
    yes = isequaln (a, b) || (is_function_handle (a) && is_function_handle (b));
  endif
endfunction

## With ordinary arrays in the place of others.
function x = plain (x)
  if (isa (x, "DeviceArray"))
    x = gather (x);
  elseif (iscell (x))
    x = cellfun (@plain, x, "UniformOutput", false);
  elseif (isstruct (x))
    x = struct2cell (x);
    x = cellfun (@plain, x, "UniformOutput", false);
  endif
endfunction

function put_line (file, text)
  fid = fopen (file, "a");
  fprintf (fid, "%s\n", text);
  fclose (fid);
endfunction
