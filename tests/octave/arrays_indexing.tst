## DeviceArray: elements selected by indices, compared with ordinary arrays.

%!shared u, x
%! x = [3 -1 4; 1 -5 9];
%! u = DeviceArray (x);

%!testif ; own_type ()  # the elements of a range are made nowhere
%! refused (@() u(1:2^40), "index", "out of bound 6");
%! refused (@() u(:,3:-1:-2^40), "index", "_,0");
%! refused (@() u(1:0.5:2^40), "index", "1.5");

%!test # every form of an index; where it leaves the array, both refuse it
%! y = reshape (1:24, 2, 3, 4);
%! forms = {@(a) a(1), @(a) a(end), @(a) a(2,3), @(a) a(2,end), @(a) a(end,end), @(a) a(1,2,3), @(a) a(end,end,end), ...
%!          @(a) a(:,1), @(a) a(1,:), @(a) a(:,:), @(a) a(:,:,2), @(a) a(2:end,1), @(a) a(2:end), @(a) a([1 3; 2 4]), ...
%!          @(a) a([]), @(a) a(:,[]), @(a) a([1 1 2]), @(a) a([1; 2]), @(a) a(end:-1:1), @(a) a(1,1,1,1), @(a) a(:), ...
%!          @(a) a(logical ([1 0 1])), @(a) a(:,logical ([1 0 1])), @(a) a(int8 (2)), @(a) a(single ([1 2])), @(a) a(:,:,:), ...
%!          @(a) a(false), @(a) a(true), @(a) a(end-1), @(a) a(2,[3 1],end), @(a) a(1,:,:), @(a) a(zeros (1, 0)), ...
%!          @(a) a(uint32 ([3 1])), @(a) a(:,end:-1:1,:), @(a) a(1:2:end), @(a) a(:)(3), @(a) a(:,2)(2), @(a) a(2,:,[4 4 1]), ...
%!          @(a) a(:,:)(2,:), @(a) a(:,1,1,1), @(a) a(end), @(a) a(:,5), @(a) a(2:3,:), @(a) a(":"), @(a) a(1,":"), ...
%!          @(a) a(zeros (0, 1)), @(a) a(zeros (0, 3)), @(a) a([],[]), @(a) a(1,[]), @(a) a(end/2), @(a) a(end+0,1:end-1)};
%! for f = forms
%!   for c = array_classes ()
%!     if (takes ("forms, classes", f, c))
%!       alike (f{1}, {c{1}(y)});
%!     endif
%!   endfor
%!   for s = array_samples ()
%!     if (takes ("forms, samples", f, s))
%!       alike (f{1}, s);
%!     endif
%!   endfor
%! endfor
%! for f = {@(a) a(6:-2:1), @(a) a(1:7), @(a) a(0:2), @(a) a(3:-1:-2), @(a) a(1:2,3:-1:2), @(a) a(2:1), @(a) a(4:9:8)}
%!   alike (f{1}, {x});
%! endfor
%! row = 1:5;
%! for v = {row, row.'}
%!   for f = {@(a) a(2), @(a) a([1 2]), @(a) a([1; 2]), @(a) a([1 2; 3 4]), @(a) a(end), @(a) a(2:end), @(a) a(:), @(a) a(:).', ...
%!            @(a) a(logical ([1 0 1 0 1])), @(a) a(logical ([1; 0; 1])), @(a) a([]), @(a) a(zeros (2, 0)), @(a) a(ones (2, 3, 2)), ...
%!            @(a) a(:,:), @(a) a(true (size (a))), @(a) a(1:2:end), @(a) a(end:-2:1), @(a) a([5 5 1 1])}
%!     alike (f{1}, v);
%!   endfor
%! endfor
%! for f = {@(a) a(1:2,:), @(a) a(:), @(a) a(:,:), @(a) a(:,:,1), @(a) a(1), @(a) a(1,1), @(a) a([1 1 1]), @(a) a([1; 1]), @(a) a(ones (2, 2))}
%!   alike (f{1}, {7});
%! endfor

%!test # what has more than one element stays, all else is an ordinary number
%! for stays = {u(2:end,:), u(:), u(1,:), u(u > 2), u([1 1]), u(end:-1:1), u(:,:), u([]), u(1:0), u(:,[])}
%!   assert (class (stays{1}), "DeviceArray");
%! endfor
%! for number = {u(2), u(2,3), u(end), u(x == 9), u(u == 9), u(1:1), u(:,1)(2)}
%!   assert (class (number{1}), "double");
%! endfor
%! assert (class (DeviceArray (single (x))(2)), "single");
%! assert (class (DeviceArray (int8 (x))(2)), "int8");
%! assert (class (DeviceArray (x > 2)(2)), "logical");
%! assert (class (u()), "DeviceArray");
%! assert (class (DeviceArray (5)), "DeviceArray");
%! assert (gather (u()), x);
%! assert ((u + 1)(2), 2);

%!test # masks
%! for m = {x > 2, x > 100, x > -100, x == 9, [true false], true, false, [true; true], true(2, 3), [false true true]}
%!   alike (@(a) a(m{1}), {x});
%!   alike (@(a, m) a(m), {x, m{1}}, false, 1);
%!   alike (@(a, m) a(m), {x(1,:), m{1}(1,:)}, false, 1);
%! endfor
%! for f = {@(a) a(a > 2), @(a) a(! (a > 2)), @(a) a(a > 2 & a < 9), @(a) a(:,a(1,:) > 0), @(a) a(a(:,1) > 1,:), @(a) a(any (a < 0, 2),:), ...
%!          @(a) a(isnan (a)), @(a) a(isfinite (a)), @(a) a(a > 2)(2)}
%!   alike (f{1}, {x});
%!   alike (f{1}, {single(x)});
%! endfor
%! alike (@(a) a(a > 0), {5:8});
%! alike (@(a) a(a > 0), {zeros(0, 3)});
%! v = DeviceArray (5:8);
%! m = gather (v > 0);
%! assert (class (m), "logical");
%! assert (gather (v(m)), 5:8);
%! y = rand (37, 53);
%! alike (@(a) a(a > 0.5), {y});
%! alike (@(a, m) a(:,m), {y, y(1,:) > 0.5}, false, 1);

%!test # indices that are arrays on the device
%! for i = {[1 3], [2; 1], [1 2; 6 5], [], zeros(1, 0), 4, int8([2 1]), single([6 6])}
%!   alike (@(a, i) a(i), {x, i{1}}, false, 1);
%! endfor
%! alike (@(a, i, j) a(i, j), {x, [2 1], [3 1 1]}, false, 1);
%! alike (@(a, i) a(i, :), {x, [2 1 2]}, false, 1);
%! alike (@(a, i) a(:, i), {x, [true false true]}, false, 1);

%!test # indices that are none
%! for f = {@() u(0), @() u(7), @() u(3,1), @() u(1,4), @() u(1.5), @() u(-1), @() u(1,1,2), @() u(NaN), @() u(Inf), @() u(1:7), ...
%!          @() u(logical ([0 0 0 0 0 0 1])), @() u([1 0]), @() u(:,4), @() u(:,0), @() u(1,2,3,4), @() u("a"), ...
%!          @() u(DeviceArray (0)), @() u(DeviceArray ([1 2.5])), @() u(DeviceArray (7:9)), @() u(end+1), @() u(:,:,2)}
%!   refused (f{1}, "index", "");
%! endfor
%! refused (@() u{1}, "index", "u(...)");
%! for bad = {1i, {1}, struct(), sparse(1), @sin}
%!   fail ("u(bad{1})");
%! endfor
%! assert (gather (u), x);

%!testif ; own_type ()  # of an object of the class Octave says this by itself
%! ## Ordinary arrays have no indices on the device.
%! for f = {@() x(u), @() x(u, 1), @() x(u > 0), @() {1, 2}{DeviceArray(1)}}
%!   refused (f{1}, "index");
%! endfor

%!test # end of what an expression gives
%! assert ((u + 1)(end), 10);
%! assert (gather ((u .* 2)(end,:)), 2 * x(end,:));
%! assert (u(end)(end), 9);
%! c = {u, 1};
%! assert (c{1}(end), 9);
%! assert (gather (c{1}(end,:)), x(end,:));
%! s.a = u;
%! assert (s.a(end, 1), 1);
%! assert (u(numel (u)), 9);
%! assert (u(min (end, 3)), -1);

%!test # sub2ind and ind2sub, as the host's
%! x = magic (6);
%! u = DeviceArray (x);
%! [r, c] = find (u > 30);
%! assert (gather (u(sub2ind (size (u), r, c))), x(x > 30));
%! [i, j] = ind2sub (size (u), find (u > 30));
%! assert (gather ([i, j]), gather ([r, c]));
%! assert (gather (sub2ind ([3 4 5], DeviceArray ([3 1]), [20 2])), sub2ind ([3 4 5], [3 1], [20 2]));
%! for count = 1:4
%!   [got, due] = deal (cell (1, count));
%!   [got{:}] = ind2sub ([3 4 5], DeviceArray ([1 7 60]));
%!   [due{:}] = ind2sub ([3 4 5], [1 7 60]);
%!   assert (cellfun (@gather, got, "UniformOutput", false), due);
%! endfor
%! for call = {@() sub2ind([3 4], DeviceArray ([1 4]), [2 2]), @() sub2ind([3 4], DeviceArray ([1 1.5]), [2 2]), @() ind2sub([3 4], DeviceArray ([1 13]))}
%!   caught = struct ("identifier", "");
%!   try
%!     call{1} ();
%!   catch caught
%!   end_try_catch
%!   assert (caught.identifier, "DeviceArray:index");
%! endfor
