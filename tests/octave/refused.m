## -*- texinfo -*-
## @deftypefn {} {@var{text} =} refused (@var{f}, @var{id}, @var{word})
## Raises unless the call of @var{f} without arguments is an error under
## DeviceArray's prefix and @var{id} (any of ours if it is empty) whose
## text has @var{word} in it (@qcode{"gather"} if not given).  @var{text} is that text.
## @end deftypefn

function text = refused (f, id, word = "gather")
  caught = [];
  try
    f ();
  catch caught
  end_try_catch
  assert (! isempty (caught), "refused: no error of %s", func2str (f));
  prefix = ["DeviceArray:" id];
  assert (strncmp (caught.identifier, prefix, numel (prefix)), ...
          "refused: %s: expected %s, got <%s> %s", func2str (f), prefix, caught.identifier, caught.message);
  text = caught.message;
  assert (isempty (word) || ! isempty (strfind (text, word)), ...
          "refused: %s: no <%s> in <%s>", func2str (f), word, text);
endfunction
