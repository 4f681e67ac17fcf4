## -*- texinfo -*-
## @deftypefn {} {@var{x} =} random_array ()
## A small array of a class that a DeviceArray may have, of any size, some of them with NaN, Inf or -0.
## @end deftypefn

function x = random_array ()
  name = random_class ();
  sizes = random_size ();
  switch (name)
    case "logical"
      x = rand (sizes) > 0.5;
    case {"double", "single"}
      switch (randi (3))
        case 1
          x = randi ([-5 9], sizes);
        case 2
          x = round (64 * randn_ (sizes)) / 16;
        case 3
          x = randn_ (sizes);
      endswitch
      x = cast (x, name);
      if (rand () < 0.15)
        x(rand (sizes) < 0.3) = random_pick (NaN, Inf, -Inf, -0);
      endif
    otherwise
      x = cast (randi ([-150 300], sizes), name);
  endswitch
endfunction

function sizes = random_size ()
  switch (randi (8))
    case {1, 2, 3}
      sizes = randi ([1 5], 1, 2);
    case 4
      sizes = [1, randi([0 7])];
    case 5
      sizes = [randi([0 7]), 1];
    case 6
      sizes = [1 1];
    case 7
      sizes = randi ([1 3], 1, 3);
    case 8
      sizes = randi ([0 3], 1, 2);
  endswitch
endfunction

## From the generator that is seeded here.
function x = randn_ (sizes)
  x = rand (sizes) + rand (sizes) + rand (sizes) - 1.5;
endfunction
