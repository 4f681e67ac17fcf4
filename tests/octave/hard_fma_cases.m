## -*- texinfo -*-
## @deftypefn {} {@var{v} =} hard_fma_cases (@var{class})
## Triples on which a fused multiply-add is hard to get right, with the right
## answer: a matrix of @qcode{"double"} or @qcode{"single"} numbers, one row
## @math{a, b, c, a*b + c} a case.
## By turns ordinary sums, near cancellation, results near and below the smallest
## normal, sums near the largest number, exact ties, tiny halves.
## Of the singles, some also go wrong where the sum is rounded to double first.
## The answers come from a C library and agree with exact rational arithmetic.
## @end deftypefn

function v = hard_fma_cases (class)
  if (strcmp (class, "double"))
    cases = doubles ();
  else
    cases = singles ();
  endif
  v = reshape (hex2num (cases(:), class), size (cases));
endfunction

function cases = doubles ()
  cases = {
    "3eafffffffffffff", "c050000000000056", "3dbfffffffffffff", "bf0fffff000000ab"
    "c0cfffffffffffff", "bf40000000000003", "bfd00000000000b0", "401efffffffffffa"
    "bf8fffffffffffff", "3f30000000000093", "bdc00000000000d1", "bed0000800000093"
    "c07fffffffffffff", "c120000000000048", "bf105fbf00000000", "41affffffffff85f"
    "410fffffffffffff", "3f200000000000e6", "3dc0000000000007", "40400000000010e6"
    "be8fffffffffffff", "c0c6bed3e329a6b0", "bc10000000000000", "3f66bed3e329a6af"
    "bfafffffffffffff", "c149c495fb50bfb3", "3daa5bdc00000000", "4109c495fb50bfb3"
    "4015858fbba54f9a", "4070000000000000", "c2ac5dd400000000", "c2ac5dd3fff53d38"
    "967fffffffffffff", "2d43f2e0a789dc02", "03d3f2e0a789dc02", "0083f2e0a789dc02"
    "930fffffffffffff", "cb924388e3bc650a", "9eb24388e3bc6508", "1b76de3b8e21cd7b"
    "24913b67e4ed0739", "2a1642ce32451704", "8eb7f9a1fa53ecbd", "0b288b5e76e77c80"
    "95f6de058733247f", "af7776f100000000", "8580c492e5a8f10a", "024072c780000000"
    "cad8d54e8f5d3a00", "1b303c939ac85aad", "261933538df4a7f8", "a2b0a0dbe190c800"
    "b6b3f26b7d20a748", "b5f8adb700000000", "acbec4328a975322", "2949e3c000000000"
    "1f34784489da7ef7", "e16855b1a8b1f9ad", "40af2209052ccdc2", "3d63906e7112f415"
    "212fffffffffffff", "62700000000000a2", "c3b00000000000a0", "4077ffffffffffaf"
    "bd80000000000028", "3690000000000058", "3420000000000080", "ae5b800000000000"
    "18bfffffffffffff", "9bacd659e710f9a9", "8000000000000001", "8000000000000001"
    "1700f138c7fb0924", "aa9fffffffffffff", "0040f07da8707d24", "81b0f138a61a0dd3"
    "07c0000000000021", "b9cfffffffffffff", "00f60b66a80ef592", "819ffa7d2655fc84"
    "0784b4f409bf34a7", "3cd0000000000050", "83e5b72a6416ad0f", "04649f3cdf5b1e61"
    "a3afffffffffffff", "a0500000000000a7", "0208e3fc3ae0a49d", "04100000000c72a5"
    "0ec00000000000bc", "b1cfffffffffffff", "0068c71900000000", "809ce71ce0000177"
    "10f0000000000000", "2830000000000000", "008a01901d62c6c3", "008a01901d62c6c3"
    "63cfffffffffffff", "dbb000000000006d", "7d17bf1800000000", "ff8fffffffffd15b"
    "5c942ecff77f846d", "612fffffffffffff", "7dfd6b083e4c6352", "7e013b5e1e162237"
    "db1fffffffffffff", "e400000000000027", "7d82fd49b905d857", "7f300000025fa95e"
    "5845c80d6be78694", "5830000000000000", "7d100000000000e7", "7d100000000000e7"
    "9fbd0f3c8f5aff50", "a0ffffffffffffff", "80cd0f3c8f5aff4f", "00000000000000bc"
    "a11fffffffffffff", "9d4fffffffffffff", "8000000008000000", "8000000000000000"
    "9fac5764fb39e20f", "9e58aa07eba76307", "802fffffffffffff", "802ffffffff513ed"
    "230000000000008b", "9eafffffffffffff", "01c000000000008a", "8000000004000000"
    "a2e4c04b0e7e62a6", "1f00000000000016", "01f4c04b0e7e62c3", "000000001de63305"
    "a240000000000000", "9cc0000000000000", "0001de9a0f2d490d", "0001deaa0f2d490d"
    "426ae854b6548200", "4302a8294d809b00", "41fb307a00000000", "457f602c3c48fbcc"
    "41e1a8f05d940000", "42f7a759b28a1920", "c36280feac6e8a7e", "44ea1b8fc19d6180"
    "422701f4b33fdc00", "431cf9c69c6b3118", "41ffffffffffffff", "4554d54c217b5944"
    "4298e7607b5d6cd0", "4202fce50be00000", "422160bf63c570e4", "44ad8ded3c70ca81"
    "429a57ebe4851000", "426177435d5fa000", "43a7bfedf5552887", "450cc1c7d6290002"
    "42b6f533dc88b700", "4250152d86dac000", "c2a4829c00000000", "4517139703bb5063"
    "41d10c6204280000", "4289582e76526000", "c14e106a0dd69882", "446b014ec342408b"
    "41e4e389f5dc0000", "4245fa57c5140000", "4560000000000000", "45600003962f5e9c"
    "43378d39e0bbe758", "3ff0004000000000", "bfd0000000000001", "43378d9815a36a47"
    "4339de8f5b99842f", "3ff0000000000020", "3fe0000000000000", "4339de8f5b998463"
    "433b7e2616e119ed", "3ff2000000000000", "c340000000000001", "c2f12152642c2d76"
    "433d2f49fac20613", "3ff0000000400000", "4320000000000000", "434297a4fd9b619d"
    "4330bbe8a60173d7", "3ff0080000000000", "3fe0000000000000", "4330c4469a547491"
    "433f8f9f8b2b2d78", "3ff0000000004000", "4350000000000001", "4357e3e7e2caeaef"
    "433d4a238b26956c", "3ff0004000000000", "3fd0000000000001", "433d4a98b3b4c207"
    "433c9f79f0a970f6", "3ff4000000000000", "c080000000000000", "4341e3ac3669e59a"
    "4015f5bc0245be7a", "00250a0fe2d41d04", "0030000000000000", "0052702b1317ab93"
    "3fefffffffffffff", "0030000000000041", "800fffffffffffff", "0028000000000081"
    "bfe884c100000000", "80139dab5494c1d8", "80300000000000aa", "80287c2f67711ac3"
    "c02fffffffffffff", "0005187000000000", "00259c339724ab13", "8023274c68db54ec"
    "401ab6dfe28819ca", "802fffffffffffff", "8020000000000083", "805cb6dfe28819da"
    "bfffffffffffffff", "802fffffffffffff", "002fb197ab409598", "0047ec65ead02565"
    "fd17c33d6149e16c", "c0557b01c61319eb", "fd7fe6f019ed2bd2", "7a0ad0ce46cbd120"
    "7d00a16db63114fa", "bfd0000000000001", "7ce0a16db63114fb", "f9542db6c6229f40"
    "fd9fffffffffffff", "3ff3d01900000000", "7d93d018ffffffff", "fd93d01900000000"
    "ff3e003e93310d1d", "4001dee600000000", "7f50c11a9210f533", "7bd08f9000000000"
    "fe3fffffffffffff", "bfdfffffffffffff", "fe2ffffffffffffe", "7790000000000000"
    "7e18177a00000000", "406edeed2c9c2a0b", "fe873dd7cdd569da", "7e873dd7cdd569da"
  };
endfunction

function cases = singles ()
  cases = {
    "378000f8", "38fffffb", "b1800045", "b0ffff29"
    "3a000000", "37000008", "bc74712e", "bc74712a"
    "45200000", "490000c6", "b3800000", "4ea000f7"
    "46400000", "480000b3", "326d0000", "4ec0010d"
    "bd7fffff", "44000044", "3efffffa", "c1fc0087"
    "c0fffffd", "ba000080", "bb462d63", "3a674e68"
    "c4000002", "bfe48000", "3de4f146", "4464872b"
    "3c3781b3", "42800017", "bf3781d6", "b401ac76"
    "45800000", "bc8000ce", "428000cd", "b7000000"
    "b800002b", "39800097", "320000c3", "267fcd46"
    "b9ec8000", "3d800089", "37ec80ff", "2c6f8000"
    "c0000400", "3d7ffffc", "3e0003fe", "2c800000"
    "079112bc", "ad000000", "01000076", "01000075"
    "20000000", "93017596", "00000000", "80000000"
    "24e38000", "1c80000b", "01af92d3", "02498973"
    "84000008", "b8000002", "82060000", "8205f000"
    "bf7ffff2", "81a995a8", "02000000", "0254cacf"
    "0e800010", "2900008a", "00000001", "00000041"
    "3a941723", "05f78c8c", "00000001", "010f33a1"
    "86800010", "3a00004d", "00000001", "8100005d"
    "96800000", "1d800000", "80000001", "80000002"
    "bd800086", "82fffffc", "80000001", "01000083"
    "40802000", "fd80000b", "fefc0f2a", "ff3e179b"
    "5e927271", "defffff4", "7e000000", "fc939351"
    "d67ffffe", "67800078", "7e80007b", "7400001e"
    "f400001a", "cb000000", "7ec61c7d", "7f800000"
    "f5000043", "4900006b", "fe000400", "fec002ae"
    "34800000", "40fffff8", "cacf3bb4", "cacf3bb4"
    "bdfffff9", "41800004", "cc00005e", "cc00005f"
    "c57ffff0", "40800008", "d2c5b0df", "d2c5b0df"
    "35800092", "3f7ffedc", "c1f97727", "c1f97727"
    "37800031", "3f7fff9e", "43c0fcc5", "43c0fcc5"
    "38800001", "3f7ffffe", "44bcc11f", "44bcc11f"
    "418000c3", "3f7ffe7a", "cdb8bc5d", "cdb8bc5d"
    "ba8000ed", "3f800000", "46fffffc", "46fffffb"
    "be800040", "3f7fff80", "cafffff1", "cafffff1"
    "bf0000cd", "3f7ffe66", "cb436701", "cb436701"
  };
endfunction
