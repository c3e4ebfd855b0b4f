/** Generates random templates from a grammar, with the elements of gateways' templates. */
import fc from 'fast-check'

const paths = fc.constantFrom(
  '$name',
  '$n',
  '$d',
  '$zero',
  '$neg',
  '$s',
  '$num',
  '$empty',
  '$yes',
  '$no',
  '$nil',
  '$missing',
  '$list',
  '$strs',
  '$map',
  '$map.a',
  '$map.b',
  '$map.c',
  '$map.zz',
  '$deep.a.b',
  '$list[0]',
  '$readings[0].value',
  '$readings[1].tags',
  '$x',
  '$y',
  '$!x',
  '${name}',
  '$list.size()',
  '$s.length()',
  '$s.substring(2)',
  '$map.get("b")',
  '$strs.get(1)',
  '$map.keySet()',
  '$long',
  '$int',
)
const literals = fc.constantFrom(
  '0',
  '1',
  '-3',
  '7',
  '2.5',
  '0.1',
  '1e3',
  '2147483647',
  '9007199254740993',
  '"a"',
  "'b$n'",
  '"x$n"',
  '"12"',
  '""',
  'true',
  'false',
  '[1,2]',
  '[]',
  '{"k":1}',
  '[1..3]',
  '[3..1]',
)
const plain = fc.oneof(
  paths.filter((path) => !path.startsWith('$!')),
  literals,
)

const expressions = fc.letrec<{ any: string; operand: string }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    plain,
    fc
      .tuple(
        tie('operand'),
        fc.constantFrom('+', '-', '*', '/', '%', '==', '!=', '<', '>', '<=', '>=', '&&', '||'),
        tie('operand'),
      )
      .map((parts) => parts.join(' ')),
    tie('operand').map((of) => `!${of}`),
  ),
  operand: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    plain,
    tie('any').map((inner) => `(${inner})`),
  ),
})).any

const texts = fc.constantFrom(
  'a',
  ' ',
  '\n',
  '  ',
  '\n  ',
  ' {',
  '}',
  '"',
  ': ',
  ',',
  '.',
  '\\',
  '$5',
  '#5',
  'x y',
  '\t',
  '-',
  ' ## c\n',
  '#* c *#',
  '#[[$n]]#',
  '\r\n',
  '!',
  ' [',
  ']',
  ')',
)

const blocks = fc.letrec<{ block: string; statement: string }>((tie) => ({
  block: fc.array(tie('statement'), { maxLength: 6 }).map((all) => all.join('')),
  statement: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    texts,
    paths,
    fc.tuple(fc.constantFrom('$x', '$y'), expressions).map(([name, value]) => `#set(${name} = ${value})`),
    fc
      .tuple(expressions, tie('block'), fc.option(tie('block'), { nil: undefined }))
      .map(([test, yes, no]) => `#if(${test})${yes}${no === undefined ? '' : `#{else}${no}`}#end`),
    fc
      .tuple(
        fc.constantFrom('$x', '$i'),
        fc.oneof(
          paths.filter((path) => !path.startsWith('$!')),
          fc.constantFrom('[1..3]', '["a","b"]', '[2..1]'),
        ),
        tie('block'),
      )
      .map(([name, of, block]) => `#foreach(${name} in ${of})${block}#end`),
    fc.tuple(paths, texts).map((parts) => parts.join('')),
    fc.constantFrom(
      '$foreach.index',
      '$foreach.count',
      '#if($foreach.hasNext),#end',
      '#break',
      '$velocityCount',
      '#m($x)',
      '#m(1)',
      '#define($y)d$n#end',
      "#evaluate('$x')",
    ),
  ),
})).block

/**
 * Each template has a macro for its calls. The text right after a reference avoids the state of Apache's lexer in which
 * a brace or a verbatim text has another meaning (`BEHIND_REFERENCES` of the differences).
 */
export const randomTemplates = blocks.map((block) => {
  return `#macro(m $p)[$p]#end${block.replaceAll('{$', '{ $').replaceAll('$#', '$ #').replaceAll('#[[', ' #[[')}`
})
