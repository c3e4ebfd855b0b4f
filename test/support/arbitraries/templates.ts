/** Generates handlebars templates and their data: everything that both implementations render, in any nesting. */
import fc from 'fast-check'

/** Few and short, so that names in templates match keys of the data. */
const KEYS = ['a', 'b', 'list', 'x', 'my key', 'length', '0']
const LABELS = ['n', 'm', 'my node']

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    1,
    2,
    -1.5,
    1e21,
    true,
    false,
    null,
    '',
    '0',
    '<b>',
    `a&"'\`=`,
    'x\n',
    '{{n.a}}',
    '[object Object]',
    '1',
  ),
  fc.string({ maxLength: 4 }),
)
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...KEYS), tie('json'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

/** Generates raw data by node label. */
export const templateData: fc.Arbitrary<Record<string, Record<string, unknown>>> = fc.dictionary(
  fc.constantFrom(...LABELS),
  fc.dictionary(fc.constantFrom(...KEYS), json, { minKeys: 3, maxKeys: 7, noNullPrototype: true }),
  { minKeys: 1, maxKeys: 3, noNullPrototype: true },
)

const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\n',
    '  \n',
    '\r\n',
    '\n\n',
    '<i>&"\'`=',
    'word',
    ' } ',
    '{ ',
    '\\\n',
    '\t',
    'a\n  ',
    '\n b',
    '\u00a0\n',
  ),
  fc.constantFrom('\\{{n.a}}', '\\\\', '\\', '.', '- ', ': '),
)
const bracketed = (key: string) => (/^[a-z]+$/.test(key) ? key : `[${key}]`)
/** Most lead to a node, because a missing value prints nothing. */
const STARTS = [
  '',
  '',
  'n.',
  'n.',
  'n.',
  'n/',
  'm/',
  './',
  'this.',
  'this/',
  '../',
  '../../',
  '@root.',
  '@root.n.',
  '../n.',
  '[my node].',
]
const segment = fc
  .constantFrom(...KEYS, ...LABELS)
  .chain((key) => fc.constantFrom(bracketed(key), bracketed(key), `[${key}]`))
const path = fc
  .tuple(
    fc.constantFrom(...STARTS),
    fc.oneof({ weight: 4, arbitrary: fc.tuple(segment) }, fc.array(segment, { minLength: 2, maxLength: 3 })),
    fc.constantFrom('.', '/'),
  )
  .map(([start, segments, separator]) => start + segments.join(separator))
const name = fc.oneof(
  { weight: 4, arbitrary: path },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'this',
      '.',
      '..',
      '../this',
      '@index',
      '@key',
      '@first',
      '@last',
      '@../index',
      '@../key',
      '@../../first',
      '@index.x',
      '@root.n.a.x',
      'item',
      'key',
      'item.a',
      'other',
      '../item',
    ),
  },
)
const literal = fc.constantFrom(
  '0',
  '1',
  '-1.5',
  '""',
  '"a"',
  "'b'",
  '"my key"',
  '"a\\"b"',
  'true',
  'false',
  'null',
  'undefined',
)
const { operand } = fc.letrec<{ operand: string }>((tie) => ({
  operand: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 5, arbitrary: name },
    { weight: 2, arbitrary: literal },
    {
      weight: 1,
      arbitrary: fc.tuple(tie('operand'), tie('operand')).map(([from, key]) => `(lookup ${from} ${key})`),
    },
  ),
}))

const strip = fc.constantFrom('', '', '', '~')
const value = fc
  .tuple(
    strip,
    strip,
    fc.oneof(
      name,
      name,
      literal,
      fc.tuple(operand, operand).map(([a, b]) => `lookup ${a} ${b}`),
    ),
  )
  .chain(([left, right, inner]) =>
    fc.constantFrom(
      `{{${left}${inner}${right}}}`,
      `{{${left} ${inner} ${right}}}`,
      `{{${left}{${inner}}${right}}}`,
      `{{${left}&${inner}${right}}}`,
      `{{${left}& ${inner} ${right}}}`,
    ),
  )
const comment = fc
  .tuple(strip, strip)
  .chain(([left, right]) =>
    fc.constantFrom(
      `{{${left}! a remark ${right}}}`,
      `{{${left}!-- {{x}} }} --${right}}}`,
      `{{${left}!${right}}}`,
      `{{${left}!--${right}}}`,
    ),
  )

/** Generates the beginning of a block, with its possible end and `else if`. */
const opening = fc.oneof(
  fc
    .tuple(fc.constantFrom('if', 'unless'), operand, fc.constantFrom('', '', ' includeZero=true', ' includeZero=n.a'))
    .map(([kind, subject, more]) => ({ open: `${kind} ${subject}${more}`, close: kind })),
  fc
    .tuple(operand, fc.constantFrom('', '', ' as |item|', ' as |item key|', ' as | other  item |'))
    .map(([subject, names]) => ({ open: `each ${subject}${names}`, close: 'each' })),
  fc
    .tuple(operand, fc.constantFrom('', '', ' as |item|'))
    .map(([subject, names]) => ({ open: `with ${subject}${names}`, close: 'with' })),
  name
    .map((subject) => ({ open: subject, close: subject.replaceAll(/[[\]]/g, '') }))
    .filter(({ close }) => !close.includes(' ') && close !== '.' && close !== '0'),
)

const { body } = fc.letrec<{ body: string; block: string }>((tie) => {
  const inner = tie('body')
  const tag = fc.tuple(strip, strip)
  const inBlock = fc.tuple(tag, opening, inner)
  return {
    body: fc
      .array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          { weight: 4, arbitrary: text },
          { weight: 4, arbitrary: value },
          { weight: 1, arbitrary: comment },
          { weight: 4, arbitrary: tie('block') },
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join('')),
    block: fc
      .tuple(
        inBlock,
        fc.constantFrom('#', '#', '#', '^'),
        fc.array(inBlock, { maxLength: 2 }),
        fc.option(fc.tuple(tag, fc.constantFrom('else', ' else ', '^'), inner), { nil: undefined }),
        tag,
      )
      .map(([[[l, r], { open, close }, first], sigil, links, otherwise, [endL, endR]]) => {
        const head = sigil === '^' ? open.replace(/ as \|.*$/, '') : open
        const chain = sigil === '^' ? [] : links
        const middle = chain.map(([[left, right], link, text]) => `{{${left}else ${link.open}${right}}}${text}`)
        const last = otherwise ? `{{${otherwise[0][0]}${otherwise[1]}${otherwise[0][1]}}}${otherwise[2]}` : ''
        return `{{${l}${sigil}${head}${r}}}${first}${middle.join('')}${last}{{${endL}/${close}${endR}}}`
      }),
  }
})

/** Generates templates that handlebars accepts nearly always. */
export const template: fc.Arbitrary<string> = body
