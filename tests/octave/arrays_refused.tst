## DeviceArray: unsupported functions raise an error that names gather, and
## nothing crashes Octave.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

%!function said = text_of (f)
%!  said = "";
%!  try
%!    f ();
%!  catch err
%!    said = err.message;
%!  end_try_catch
%!endfunction

%!function branch (u)
%!  if (u)
%!    error ("it ran");
%!  endif
%!endfunction

%!function repeat (u)
%!  while (u)
%!    error ("it ran");
%!  endwhile
%!endfunction

%!function until_true (u)
%!  do
%!  until (u)
%!endfunction

%!testif ; own_type ()  # an object of the class is false, whatever the values
%! for v = {DeviceArray(1), DeviceArray(0), DeviceArray([1 1]), DeviceArray([]), u > 0}
%!   for f = {@() branch(v{1}), @() repeat(v{1}), @() until_true(v{1}), @() v{1} && true, @() true && v{1}, @() v{1} || false}
%!     refused (f{1}, "unsupported", "if (all (u");
%!   endfor
%! endfor

%!testif ; own_type ()  # Octave takes an object of the class for one value
%! for s = {x, 1:3, (1:3)', reshape(1:8, 2, 2, 2), [], 5, int8(x)}
%!   [got, want] = deal ({});
%!   for q = DeviceArray (s{1})
%!     got{end+1} = gather (q);
%!   endfor
%!   for q = s{1}
%!     want{end+1} = q;
%!   endfor
%!   assert (got, want);
%! endfor

%!test # ranges
%! for f = {@() 1:DeviceArray(3), @() DeviceArray(1):3, @() 1:DeviceArray(2):5}
%!   text = text_of (f{1});
%!   assert (! isempty (strfind (text, "gather")), "%s: <%s>", func2str (f{1}), text);
%! endfor

%!test # functions of each element that only the host has
%! names = {"gamma"};
%! if (own_type ())
%!   ## For an object these raise that they do not support objects.
%!   names = [names, {"lgamma", "erfcx", "arg", "isalpha", "toupper"}];
%! endif
%! for name = names
%!   text = text_of (@() feval (name{1}, u));
%!   assert (! isempty (strfind (text, "gather")), "%s: <%s>", name{1}, text);
%! endfor
%! refused (@() u ^ 2, "unsupported", "gather (u) ^ k");

%!function says_gather (list)
%!  for f = list
%!    given = text_of (f{1});
%!    assert (isempty (given) || ! isempty (strfind (given, "gather")), "%s: <%s>", func2str (f{1}), given);
%!  endfor
%!endfunction

%!test # values where ordinary ones are wanted
%! says_gather ({@() sprintf("%g", u), @() printf("%g", u), @() fprintf("%g", u), @() num2str(u), @() mat2str(u), @() plot(1:3, u), @() plot(u), ...
%!               @() zeros(u, 1), @() ones(2, u), @() quantile(2, DeviceArray (2)), @() int2str(u), @() unique(u), ...
%!               @() median(u), @() cumprod(u)});

%!testif ; own_type ()  # of an object each function of the host says something else
%! says_gather ({@() char(u), @() surf(u), @() imagesc(u), @() linspace(0, u, 3), @() erfinv(u), @() erfcx(u), ...
%!               @() filter(1, 1, u), @() fft(u), @() inv(u(:,1:2)), @() det(u(:,1:2)), @() rand(u), ...
%!               @() cell(u), @() bitand(u, 1), @() complex(u, 1), @() sparse(u), @() interp1(x(1,:), x(1,:), u), ...
%!               @() kron(u, u), @() dec2bin(u), @() ismember(1, u), @() accumarray(u, 1), ...
%!               @() cummax(u), @() typecast(u, "uint8"), @() bitshift(u, 1), @() {1, 2, 3}{u}});

%!test # with a way out that works
%! for given = {@() atan2(u), "atan2 (Y, X)"; @() mod(u), "mod (U, N)"; @() merge(u > 0), "merge (MASK, A, B)"; @() linspace(0, u, 3), "DeviceArray (linspace"; @() NaN(2, "like", int8 (u)), "double or single"; ...
%!              @() u(1,:)(:) * u, "elementwise products"}'
%!   refused (given{1}, "", given{2});
%! endfor
%! assert (gather (NaN (1, 2, "like", single (u))), single ([NaN NaN]));
%! assert (gather (DeviceArray.Inf (2, 1)), [Inf; Inf]);

%!testif ; own_type ()  # functions of the host name themselves, and assignments what is assigned to
%! for name = {"conv2", "filter2", "imfilter"}
%!   refused (@() feval (name{1}, u, 3), "unsupported", "On the device it is ConvolutionConstantMemory_CUDA");
%! endfor
%! for name = {"quantile", "prctile", "accumarray", "hist", "rat"}
%!   refused (@() feval (name{1}, u, 3), "unsupported", [name{1} " (gather (u)"]);
%! endfor
%! for begin = {zeros(3), 5, single(1:3), true(1, 3), int8(1:3), "abc"}
%!   z = begin{1};
%!   try
%!     z(1,1:3) = u(1,:);
%!     error ("none");
%!   catch err
%!     assert (! isempty (strfind (err.message, "zeros (2, 3, 'like', u)")), "%s", err.message);
%!   end_try_catch
%! endfor
%! refused (@() branch (u > 0), "unsupported", "all (u(:) > 0)");

## These take a value that says it is of a class for the host's own array of that class, and
## ended the process once.
%!test # functions that look into integers, truth values and singles
%! [status, out] = run_octave ({
%!   "function print_usage (), error ('Octave:invalid-fun-call', 'Invalid call'); end"  # the host's looks for its manual
%!   "names = {'mod', 'rem', 'find', 'cummax', 'cummin', 'base64_encode', 'bitunpack', 'bitpack', 'typecast', 'num2cell', 'bitand', ..."
%!   "         'bitshift', 'hypot', 'sort', 'sum', 'prod', 'max', 'accumarray', 'lookup', 'filter', 'nnz', 'merge', 'diag', 'cellslices', ..."
%!   "         'nth_element', 'issorted', 'sub2ind', 'ind2sub', 'tril', 'full', 'sparse', 'mat2cell', 'gcd', 'isprime', ..."
%!   "         'bandwidth', 'isdiag', 'istriu', 'nonzeros', 'fwrite', 'dlmwrite', 'strfind', 'hash', 'cosd', 'eomday', 'spones'};"
%!   "patterns = {@(f, u) f (u), @(f, u) f (u, 2), @(f, u) f (2, u), @(f, u) f (u, u), @(f, u) f (u, 'uint8'), @(f, u) f (u, 1, 2), ..."
%!   "            @(f, u) {f (u(:)), f(u(:)')}};"
%!   "warning ('off', 'all');"
%!   "for c = {@single, @logical, @int8, @uint8, @int32}"
%!   "  u = DeviceArray (c{1} ([3 1 2; 6 5 4]));"
%!   "  for name = names, for p = patterns"
%!   "    printf ('%s %s %s;', name{1}, func2str (p{1}), class (gather (u))); fflush (stdout);"
%!   "    try, evalc ('p{1} (str2func (name{1}), u);'); catch, end"
%!   "  end, end"
%!   "end"
%!   "disp ('done')"});
%! assert (status == 0, "it ended in %s", out(max (1, end - 300):end));
%! assert (! isempty (regexp (out, "done")), "%s", out(max (1, end - 300):end));

%!test  # what the host says of the object's own size would be wrong
%! said = text_of (@() StencilConstantMemory_CUDA (x, u));
%! assert (! isempty (strfind (said, "kernelArray is a DeviceArray, expected")), "%s", said);
%! said = text_of (@() StencilConstantMemory_CUDA (x, 1, "Iterations", u));
%! assert (! isempty (strfind (said, "got a DeviceArray, expected")), "%s", said);
