## arrayfun of DeviceArrays: one kernel, with the results of the host's arrayfun, and functions that run on the host.

%!shared x, y, u, v
%! x = reshape ([1 -4 9 0 -0 NaN Inf -Inf 2.5 -1e-310 7 3], 3, 4);
%! y = reshape ([2 5 -3 0 1 4 -0 1 0.1 3 NaN -7], 3, 4);
%! [u, v] = deal (DeviceArray (x), DeviceArray (y));

## Octave 11 has warnings of its own as it reads files.
%!function no_warning ()
%!  [text, id] = lastwarn ();
%!  assert (! strcmp (id, "DeviceArray:arrayfun"), "%s", text);
%!endfunction
%!
%!function text = only_warning (out)
%!  found = regexp (out, '^warning: (?!called from)(.*)$', "tokens", "lineanchors", "dotexceptnewline");
%!  assert (numel (found) == 1, "%s", out);
%!  text = found{1}{1};
%!endfunction

## On the device, without a warning; the host's arrayfun, of whole arrays, has the same bits.
%!function varargout = check (f, count, varargin)
%!  [got, want] = deal (cell (1, count));
%!  lastwarn ("");
%!  held = cellfun (@DeviceArray, varargin, "UniformOutput", false);
%!  [got{:}] = arrayfun (f, held{:});
%!  no_warning ();
%!  [want{:}] = arrayfun (f, varargin{:});
%!  for i = 1:count
%!    assert (class (got{i}), "DeviceArray");
%!    [yes, why] = same_bits (gather (got{i}), want{i});
%!    assert (yes, "%s, result %d: %s", disp (f), i, why);
%!  endfor
%!endfunction

## By the host: its results, with one warning, whose text this is.
%!function text = by_host (f, varargin)
%!  text = only_warning (evalc ("got = arrayfun (f, varargin{:});"));
%!  want = arrayfun (f, cellfun (@plain, varargin, "UniformOutput", false){:});
%!  assert (isa (got, "DeviceArray") == ! iscell (want));
%!  assert (plain (got), want);
%!endfunction

%!function a = plain (a)
%!  if (isa (a, "DeviceArray"))
%!    a = gather (a);
%!  endif
%!endfunction

%!function [a, b, c] = several (p, q)
%!  a = p + q;
%!  b = a > 0;
%!  a(b) = 0;
%!  c = max (a, q) - single (1);
%!  p(1) = 3;
%!  a = a * p;
%!endfunction

%!function a = pick_branch (a, k)
%!  if (k > 2)
%!    a = a + k;
%!  endif
%!endfunction

%!function b = second_draw (z)
%!  a = DeviceArray.rand ();
%!  b = DeviceArray.rand ();
%!endfunction

%!function text = by_random_host (z)
%!  rand ("state", 8);
%!  want = rand (1, 5);
%!  rand ("state", 8);
%!  text = only_warning (evalc ("got = arrayfun (@(a) a + rand (), z);"));
%!  assert (gather (got), want);
%!endfunction

%!function a = branch (a)
%!  if (a > 2)
%!    a = -a;
%!  endif
%!endfunction

%!function a = ifelse_of (a)
%!  switch (a)
%!    case 2
%!      a = 0;
%!  endswitch
%!endfunction

%!function a = hides (a)
%!  try
%!    a = a + gather (a);
%!  catch
%!    a = 0 * a;
%!  end_try_catch
%!endfunction

%!function a = wrong (a)
%!  error ("mine:id", "wrong %d", 3);
%!endfunction

%!function counts (a)
%!  global calls
%!  calls = calls + 1;
%!endfunction

%!test # operations that are exact
%! for f = {@(a, b) a + b, @(a, b) a - b, @(a, b) a * b, @(a, b) a / b, @(a, b) a \ b, @(a, b) -a, @(a, b) sqrt (abs (a) + 1), ...
%!          @(a, b) a > b, @(a, b) a == b | ! (b >= 1), @(a, b) merge (a < b, a, 2 * b), @(a, b) xor (a > 1, b > 1), ...
%!          @(a, b) floor (a / 2), @(a, b) 1, @(a, b) true, @(a, b) b, @(a, b) a * 2 + b * 3 - 1, @(a, b) [a].'}
%!   check (f{1}, 1, x, y);
%! endfor
%! check ("plus", 1, x, y);
%! check (@abs, 1, x);
%! check ("sum", 1, x);

%!test # an array of one element is that element
%! for f = {@(a) sum(a), @(a) prod(a), @(a) numel(a), @(a) max(a), @(a) min(a), @(a) cumsum(a), @(a) cumprod(a), @(a) sort(a), ...
%!          @(a) dot(a, 2), @(a) dot(a, a), @(a) mean(a), @(a) a(1), @(a) a(end), @(a) a', @(a) isequal(a, 9), ...
%!          @(a) norm(a), @(a) sumsq(a), @(a) a(:) + 1, @(a) repmat(a, 1, 1), @(a) cat(1, a), @(a) length(a), @(a) flip(a)}
%!   check (f{1}, 1, x);
%! endfor
%! z = x + 0;
%! z(isnan (z)) = 5;
%! for f = {@(a) any(a), @(a) all(a), @(a) nnz(a), @(a) median(a)}
%!   check (f{1}, 1, z);
%! endfor

%!test # several results, and assignments
%! check (@several, 3, x, y);
%! check (@(a) deal (a, a, 2 * a), 3, x);
%! check (@max, 2, x);
%! check (@(a) sort (a, "descend"), 2, x);
%! [a, b] = arrayfun (@several, u, v);
%! assert (gather (b), x + y > 0);

%!test # classes are the host's
%! for c = {"double", "single", "int8", "uint16", "int32", "logical"}
%!   z = cast ([0 1 1; 1 0 1], c{1});
%!   for f = {@(a) a, @(a) a + 1, @(a) a > 0, @(a) a & true, @(a) double(a) / 3, @(a) single(a), @(a) int8(a), @(a) -a, @(a) a * a, ...
%!            @(a) sum (a), @(a) uint8(7), @(a) ! a, @(a) merge(a > 0, a, a), @(a) prod (a)}
%!     check (f{1}, 1, z);
%!   endfor
%! endfor
%! check (@(a, b) a + b, 1, single (x), y);
%! check (@(a, b) a .* b, 1, int8 ([1 200 3]), [0.5 2 3]);

%!test # numbers and arrays expand
%! f = @(a, b, k) k * a - b;
%! [p, q] = deal ([1 2 3], [10; 20]);
%! want = 2 * p - q;
%! for args = {{DeviceArray(p), q, 2}, {p, DeviceArray(q), 2}, {p, q, DeviceArray(2)}, {DeviceArray(p), DeviceArray(q), DeviceArray(2)}}
%!   lastwarn ("");
%!   assert (gather (arrayfun (f, args{1}{:})), want);
%!   no_warning ();
%! endfor
%! z = reshape (1:12, 2, 1, 6);
%! assert (gather (arrayfun (@(a, b) a - b, DeviceArray (z), p)), z - p);
%! assert (gather (arrayfun (@(a, b) a, DeviceArray (p), q)), [p; p]);
%! assert (gather (arrayfun (@(a, b) b + sum (b), DeviceArray (p), DeviceArray (7))), [14 14 14]);
%! ## A number comes to the function as it is.
%! lastwarn ("");
%! assert (gather (arrayfun (@pick_branch, DeviceArray (p), 3)), p + 3);
%! assert (gather (arrayfun (@(a, k) k, DeviceArray (p), int8 (4))), int8 ([4 4 4]));
%! no_warning ();
%! assert (class (arrayfun (@(a) a + 1, DeviceArray (5))), "DeviceArray");
%! assert (gather (arrayfun (@(a) a + 1, DeviceArray (5))), 6);

%!test # arrays without elements, in the classes that the function gives
%! e = arrayfun (@(a) a + 1, DeviceArray (zeros (0, 3)));
%! assert ({size(e), underlyingType(e)}, {[0 3], "double"});
%! [e, b] = arrayfun (@(a, b) deal (single (a), a > b), DeviceArray (zeros (0, 3)), [1 2 3]);
%! assert ({size(e), underlyingType(e), size(b), underlyingType(b)}, {[0 3], "single", [0 3], "logical"});
%! e = arrayfun (@(a, b) a + DeviceArray.rand (), DeviceArray (zeros (0, 3)), 4);
%! assert (size (e), [0 3]);

%!test # arrays from outside
%! c = DeviceArray ([10 20 30]);
%! k = [7 8];
%! lastwarn ("");
%! assert (gather (arrayfun (@(a) a + c(2) * k(1), DeviceArray ([1 2]))), [141 142]);
%! no_warning ();
%! assert (! isempty (strfind (by_host (@(a) sum (a + c), DeviceArray ([1 2 3])), "3 elements are computed of each one")));

%!test # each element draws its own number, in the order of draws
%! f = {@(varargin) DeviceArray.rand(varargin{:}), @(varargin) DeviceArray.randn(varargin{:})};
%! for i = 1:2
%!   DeviceArray.rng (4);
%!   want = {f{i}(5, 3), DeviceArray.rand(5, 3), DeviceArray.randi(6, 5, 3)};
%!   after = DeviceArray.rng (4);
%!   g = f{i};
%!   lastwarn ("");
%!   [a, b, c] = arrayfun (@(z, row) deal (g () + z, DeviceArray.rand (), DeviceArray.randi (6) + row), ...
%!                         DeviceArray (zeros (5, 1)), [0 0 0]);
%!   no_warning ();
%!   assert ({gather(a), gather(b), gather(c)}, cellfun (@gather, want, "UniformOutput", false));
%!   assert (DeviceArray.rng (), after);
%! endfor
%! DeviceArray.rng (5);
%! want = gather (DeviceArray.rand (4, 1, "single"));
%! DeviceArray.rng (5);
%! assert (gather (arrayfun (@(z) DeviceArray.rand (1, "single"), DeviceArray (ones (4, 1)))), want);
%! ## An unused number counts, too.
%! DeviceArray.rng (5);
%! DeviceArray.rand (4, 1);
%! want = gather (DeviceArray.rand (4, 1));
%! DeviceArray.rng (5);
%! assert (gather (arrayfun (@second_draw, DeviceArray (ones (4, 1)))), want);

%!test # the host's random numbers are drawn by the host
%! rand ("seed", 1), rand ("state", 8);
%! text = by_random_host (DeviceArray (zeros (1, 5)));
%! assert (! isempty (strfind (text, "DeviceArray.rand")));

%!testif ; own_type ()  # an object of the class is false in a condition, whatever it holds
%! text = by_host (@branch, DeviceArray ([1 2 3]));
%! assert (! isempty (strfind (text, "merge")) && isempty (strfind (text, "step")), "%s", text);
%! for f = {@(a) a > 1 && a < 3, @(a) gamma(a), @(a) ifelse_of(a)}
%!   by_host (f{1}, DeviceArray ([1 2 3]));
%! endfor

%!test # what cannot be recorded runs on the host, with one warning that says why
%! p = DeviceArray ([1 2 3]);
%! for f = {@(a) a + gather(a), @(a) sum([a; a]), @hides, @(a) StencilConstantMemory_CUDA(a, [1 1 1]), @(a) str2double(num2str (a)), ...
%!          @(a) sum(DeviceArray.zeros (2, 1) + a)(1)}
%!   text = by_host (f{1}, p);
%!   assert (! isempty (strfind (text, "on the host")) && numel (text) > 60, "%s", text);
%! endfor
%! assert (! isempty (strfind (by_host (@(a) StencilConstantMemory_CUDA (a, [1 1 1]), p), "neighbours")));
%! assert (! isempty (strfind (by_host (@(a) num2str (a) - "0", p), "num2str")));
%! ## A mask of one element selects an unknown number of elements.
%! assert (! isempty (strfind (by_host (@(a) a(a > 0), p), "mask")));
%! by_host (@(a) sum (a(a > 1)), p);
%! ## Once a call, and arrays of other classes; sizes expand all the same.
%! said = evalc ("arrayfun (@(a) a + gather (a), p);");
%! assert (numel (strfind (said, "element at a time")), 1);
%! evalc ("got = arrayfun (@(a, b) a + numel (b{1}), p, {'a'; 'bcd'});");
%! assert (gather (got), [2 3 4; 4 5 6]);
%! evalc ("got = arrayfun (@(a) sqrt (a) + gather (a), DeviceArray ([-4 4]));");
%! assert (got, [-4+2i, 6]);

%!test # options are the host's
%! p = DeviceArray ([1 2 3]);
%! lastwarn ("");
%! assert (gather (arrayfun (@(a) 2 * a, p, "UniformOutput", true)), [2 4 6]);
%! no_warning ();
%! out = evalc ("got = arrayfun (@(a) [a a], p, 'UniformOutput', false);");
%! assert (got, {[1 1], [2 2], [3 3]});
%! assert (! isempty (strfind (only_warning (out), "cells")));
%! evalc ("got = arrayfun (@(a) 2 * a, p, 'Unif', 0);");
%! assert (got, {2, 4, 6});
%! evalc ("got = arrayfun (@(a) error ('mine:id', 'no'), p, 'ErrorHandler', @(e, a) 10 * a);");
%! assert (gather (got), [10 20 30]);
%! fail ("arrayfun (@(a) a, DeviceArray ([1 2]), 'Nonsense', 3)");

%!test # errors: those of the function pass, without a warning
%! p = DeviceArray ([1 2 3]);
%! lastwarn ("");
%! for f = {@wrong, @(a) wrong(a + 1)}
%!   err = [];
%!   try
%!     arrayfun (f{1}, p);
%!   catch err
%!   end_try_catch
%!   assert ({err.identifier, err.message}, {"mine:id", "wrong 3"});
%! endfor
%! for f = {@(a) no_such_function_here(a), @(a) error("plain words"), @(a, b) a}
%!   try
%!     arrayfun (f{1}, p, p, p);
%!     error ("none");
%!   catch err
%!     assert (isempty (strfind (err.message, "none")));
%!   end_try_catch
%! endfor
%! no_warning ();
%! refused (@() arrayfun (@(a, b) a + b, p, [1 2]), "size", "argument 2 is 1x2");
%! refused (@() arrayfun (@(a, b) a + b, DeviceArray (ones (2, 3)), DeviceArray (ones (3, 2))), "size", "2x3");
%! refused (@() arrayfun (p), "numberOfInputs", "arrayfun (F, U");
%! fail ("[a, b] = arrayfun (@(q) 2 * q, DeviceArray ([1 2]));");

%!testif ; has_gpu ()  # needs a GPU
%! [a, b] = deal (DeviceArray ([1 2], "Backend", "cpu"), DeviceArray ([1 2], "Backend", "cuda"));
%! refused (@() arrayfun (@(p, q) p + q, a, b), "dataType", "memory of the CPU");

%!test # a function without results
%! global calls
%! calls = 0;
%! evalc ("arrayfun (@counts, DeviceArray ([1 2 3]));");
%! assert (calls >= 3);
%! clear -global calls
%! said = evalc ("arrayfun (@(a) 2 * a, DeviceArray ([1 2 3]));");
%! assert (! isempty (strfind (said, "ans = DeviceArray")), "%s", said);
%! evalc ("0; arrayfun (@(a) a + gather (a), DeviceArray ([1 2 3])); got = ans;");
%! assert (gather (got), [2 4 6]);

%!test # in a step that is recorded
%! f = @(a, b) merge (a > b, a - sum (b), 2 * a);
%! g = @(a, b) deal (arrayfun (f, a, b), arrayfun (@(p) p + DeviceArray.rand (), b));
%! [a, b] = deal (DeviceArray (x(:,1)), DeviceArray ([1 2 3]'));
%! [p, q] = deal (a, b);
%! DeviceArray.rng (9);
%! for k = 1:3
%!   [p, q] = g (p, q);
%! endfor
%! DeviceArray.rng (9);
%! [a, b, info] = DeviceArray.iterate (g, 3, a, b);
%! assert ({gather(a), gather(b), info.Kernels}, {gather(p), gather(q), 2});
%! refused (@() DeviceArray.iterate (@(z) arrayfun (@(w) w + gather (w), z), 3, a), "trace", "arrayfun");

%!test # one kernel for all results
%! [a, b] = deal (DeviceArray (x), DeviceArray ([1; 2; 3]));
%! f = @(w) arrayfun (@(p, q) sqrt (abs (sum (p) * q)) + max (p) - dot (p, q), w, b);
%! [~, info] = DeviceArray.iterate (f, 1, a);
%! assert (info.Kernels, 1);
