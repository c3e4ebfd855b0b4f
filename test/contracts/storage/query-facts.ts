/** What can be asked of a collection, on nine documents that make media differ (`SAMPLES`). */
import { expect } from 'vitest'
import type { Condition, Query, Storage } from '../../../src/storage/contract.ts'
import { expectCode, storeFact, type Suite } from './medium.ts'
import { withSamples } from './things.ts'
import { asks } from './asks.ts'

const name = 'name'
const size = 'size'
const tags = 'tags'
const at = 'at'

/** What holds for which samples. */
const CONDITIONS: readonly (readonly [string, readonly Condition[], string])[] = [
  ['no condition', [], 'abcdefghi'],
  ['text eq', [{ field: name, op: 'eq', value: 'Boiler' }], 'a'],
  ['text eq minds case', [{ field: name, op: 'eq', value: 'boiler' }], ''],
  ['text eq on an empty text', [{ field: 'status', op: 'eq', value: '' }], 'g'],
  ['text ne holds where the field does not exist', [{ field: 'status', op: 'ne', value: 'on' }], 'bdeghi'],
  ['text in', [{ field: 'status', op: 'in', values: ['on', 'off', 'never'] }], 'abcf'],
  ['in nothing', [{ field: 'status', op: 'in', values: [] }], ''],
  ['text gt by code point', [{ field: name, op: 'gt', value: '～' }], 'hi'],
  ['text gt by code point, past the surrogates', [{ field: name, op: 'gt', value: '～ wave\nline two' }], 'h'],
  ['text gte', [{ field: name, op: 'gte', value: 'ärger' }], 'dghi'],
  ['text lt', [{ field: name, op: 'lt', value: 'boiler two' }], 'af'],
  ['text lte', [{ field: name, op: 'lte', value: 'boiler two' }], 'abf'],
  ['text exists, the empty one too', [{ field: 'status', op: 'exists', value: true }], 'abcfg'],
  ['text does not exist', [{ field: 'status', op: 'exists', value: false }], 'dehi'],
  ['contains minds no case', [{ field: name, op: 'contains', value: 'BOIL' }], 'ab'],
  ['contains minds no case beyond ASCII', [{ field: name, op: 'contains', value: 'ärg' }], 'cd'],
  ['contains takes both small sigmas for one', [{ field: name, op: 'contains', value: 'οδοσ' }], 'g'],
  ['contains a final sigma inside', [{ field: name, op: 'contains', value: 'ΔΟς' }], 'g'],
  ['contains signs that are wild elsewhere', [{ field: name, op: 'contains', value: '%_[X]?*\\' }], 'f'],
  ['contains an emoji', [{ field: name, op: 'contains', value: '😀' }], 'h'],
  ['contains nothing holds for every text', [{ field: name, op: 'contains', value: '' }], 'abcdfghi'],
  ['contains a percent sign only where it is', [{ field: name, op: 'contains', value: '%' }], 'f'],
  ['startsWith', [{ field: name, op: 'startsWith', value: 'Boil' }], 'a'],
  ['startsWith minds case', [{ field: name, op: 'startsWith', value: 'boil' }], 'b'],
  ['startsWith signs that are wild elsewhere', [{ field: name, op: 'startsWith', value: '50%_[' }], 'f'],
  ['startsWith nothing', [{ field: name, op: 'startsWith', value: '' }], 'abcdfghi'],
  ['startsWith the last code point', [{ field: name, op: 'startsWith', value: '\u{10ffff}' }], ''],
  ['like without a star is eq', [{ field: name, op: 'like', pattern: 'Boiler' }], 'a'],
  ['like with a star at the end', [{ field: name, op: 'like', pattern: 'Boil*' }], 'a'],
  ['like with a star for nothing', [{ field: name, op: 'like', pattern: 'Boiler*' }], 'a'],
  ['like with stars around', [{ field: name, op: 'like', pattern: '*o*er*' }], 'ab'],
  ['like needs the whole text', [{ field: name, op: 'like', pattern: '*oile' }], ''],
  ['like does not read one letter twice', [{ field: name, op: 'like', pattern: 'Boiler*Boiler' }], ''],
  ['like does not read the end twice', [{ field: name, op: 'like', pattern: 'B*er*r' }], ''],
  ['like does not read the middle twice', [{ field: name, op: 'like', pattern: '*oi*oi*' }], ''],
  ['like over two lines', [{ field: name, op: 'like', pattern: '～*two' }], 'i'],
  ['like minds case', [{ field: name, op: 'like', pattern: 'boiler*' }], 'b'],
  ['like takes other signs as themselves', [{ field: name, op: 'like', pattern: '50%_[x]?*' }], 'f'],
  ['like does not take ? for any sign', [{ field: name, op: 'like', pattern: '?oiler' }], ''],
  ['like does not take _ and % for any', [{ field: name, op: 'like', pattern: '_oil%' }], ''],
  ['like of a star alone', [{ field: name, op: 'like', pattern: '*' }], 'abcdfghi'],
  ['like of nothing is the empty text', [{ field: 'status', op: 'like', pattern: '' }], 'g'],
  ['number eq', [{ field: size, op: 'eq', value: 1 }], 'a'],
  ['number eq: zero and minus zero are one', [{ field: size, op: 'eq', value: -0 }], 'dh'],
  ['number eq past 2^53', [{ field: size, op: 'eq', value: 2 ** 53 + 2 }], 'c'],
  ['number eq of a fraction', [{ field: size, op: 'eq', value: -2.5 }], 'b'],
  ['number ne', [{ field: size, op: 'ne', value: 0 }], 'abcefgi'],
  ['number in', [{ field: size, op: 'in', values: [0, 10, 2 ** 53] }], 'dfhi'],
  ['number gt: 10 is above 9', [{ field: size, op: 'gt', value: 9 }], 'cfi'],
  ['number gte', [{ field: size, op: 'gte', value: 2 ** 53 }], 'ci'],
  ['number lt', [{ field: size, op: 'lt', value: 0 }], 'b'],
  ['number lte', [{ field: size, op: 'lte', value: 0 }], 'bdh'],
  ['number exists', [{ field: size, op: 'exists', value: false }], 'e'],
  ['one of the texts eq', [{ field: tags, op: 'eq', value: 'hot' }], 'af'],
  ['one of the texts in', [{ field: tags, op: 'in', values: ['cold', '😀'] }], 'bh'],
  ['texts in, two of one document', [{ field: tags, op: 'in', values: ['hot', 'metal'] }], 'afh'],
  ['texts exist; an empty list does not exist', [{ field: tags, op: 'exists', value: true }], 'abfh'],
  ['texts do not exist', [{ field: tags, op: 'exists', value: false }], 'cdegi'],
  ['two texts at once', [asks(tags, 'eq', 'hot'), asks(tags, 'eq', 'metal')], 'a'],
  ['place in a box', [{ field: at, op: 'box', south: 50, west: 10, north: 55, east: 15 }], 'a'],
  ['place on the edge of a box', [{ field: at, op: 'box', south: 52.5, west: 13.4, north: 52.5, east: 13.4 }], 'a'],
  ['place across the date line', [{ field: at, op: 'box', south: -20, west: 178, north: -10, east: -178 }], 'bc'],
  ['place in the whole world', [{ field: at, op: 'box', south: -90, west: -180, north: 90, east: 180 }], 'abcdgi'],
  ['place not across the date line', [{ field: at, op: 'box', south: -20, west: -179, north: 0, east: 178 }], 'cd'],
  ['place exists', [{ field: at, op: 'exists', value: false }], 'efh'],
  ['id eq', [{ field: 'id', op: 'eq', value: 'c' }], 'c'],
  ['id ne', [{ field: 'id', op: 'ne', value: 'c' }], 'abdefghi'],
  ['id in', [{ field: 'id', op: 'in', values: ['i', 'a', 'zz'] }], 'ai'],
  ['id gt and lte', [asks('id', 'gt', 'b'), asks('id', 'lte', 'd')], 'cd'],
  ['id startsWith', [{ field: 'id', op: 'startsWith', value: 'b' }], 'b'],
  ['id contains', [{ field: 'id', op: 'contains', value: 'B' }], 'b'],
  ['id like', [{ field: 'id', op: 'like', pattern: '*b*' }], 'b'],
  ['id exists', [{ field: 'id', op: 'exists', value: true }], 'abcdefghi'],
  ['id does not exist', [{ field: 'id', op: 'exists', value: false }], ''],
  ['all must hold', [asks('status', 'eq', 'on'), asks(tags, 'eq', 'hot')], 'af'],
  [
    'any of two lists',
    [
      {
        any: [[asks(name, 'eq', 'ärger')], [asks(size, 'gt', 9), asks(tags, 'eq', 'hot')]],
      },
    ],
    'df',
  ],
  ['any of no list', [{ any: [] }], ''],
  ['any with an empty list', [{ any: [[], [{ field: name, op: 'eq', value: 'none' }]] }], 'abcdefghi'],
  [
    'any in any, and beside another',
    [
      asks('status', 'eq', 'on'),
      {
        any: [[{ any: [[asks(size, 'eq', 1)], [asks(size, 'eq', 9)]] }], [asks(tags, 'eq', 'hot')]],
      },
    ],
    'af',
  ],
]

/** Questions that are refused, and with which code. */
const REFUSED: readonly (readonly [string, unknown, 'VALIDATION' | 'TOO_LARGE'])[] = [
  ['an unknown field', { where: [{ field: 'colour', op: 'eq', value: 'x' }] }, 'VALIDATION'],
  ['a field of a prototype', { where: [{ field: 'constructor', op: 'exists', value: true }] }, 'VALIDATION'],
  ['an unknown operator', { where: [{ field: name, op: 'near', value: 'x' }] }, 'VALIDATION'],
  ['contains on a number', { where: [{ field: size, op: 'contains', value: '1' }] }, 'VALIDATION'],
  ['like on texts', { where: [{ field: tags, op: 'like', pattern: 'h*' }] }, 'VALIDATION'],
  ['ne on texts', { where: [{ field: tags, op: 'ne', value: 'hot' }] }, 'VALIDATION'],
  ['gt on texts', { where: [{ field: tags, op: 'gt', value: 'hot' }] }, 'VALIDATION'],
  ['eq on a place', { where: [{ field: at, op: 'eq', value: 'x' }] }, 'VALIDATION'],
  ['box on a number', { where: [{ field: size, op: 'box', south: 0, west: 0, north: 1, east: 1 }] }, 'VALIDATION'],
  ['a text for a number', { where: [{ field: size, op: 'eq', value: '1' }] }, 'VALIDATION'],
  ['a number for a text', { where: [{ field: name, op: 'eq', value: 1 }] }, 'VALIDATION'],
  ['a number for an id', { where: [{ field: 'id', op: 'eq', value: 1 }] }, 'VALIDATION'],
  ['NaN', { where: [{ field: size, op: 'gt', value: Number.NaN }] }, 'VALIDATION'],
  ['one wrong value among several', { where: [{ field: size, op: 'in', values: [1, '2'] }] }, 'VALIDATION'],
  ['a box upside down', { where: [{ field: at, op: 'box', south: 1, west: 0, north: 0, east: 1 }] }, 'VALIDATION'],
  ['a box off the globe', { where: [{ field: at, op: 'box', south: 0, west: 0, north: 91, east: 1 }] }, 'VALIDATION'],
  ['half a surrogate pair', { where: [{ field: name, op: 'eq', value: '\ud83d' }] }, 'VALIDATION'],
  ['a NUL', { where: [{ field: name, op: 'contains', value: '\0' }] }, 'VALIDATION'],
  ['any three levels deep', { where: [{ any: [[{ any: [[{ any: [[]] }]] }]] }] }, 'VALIDATION'],
  ['sorting by texts', { sort: [{ field: tags }] }, 'VALIDATION'],
  ['sorting by a place', { sort: [{ field: at }] }, 'VALIDATION'],
  ['sorting by an unknown field', { sort: [{ field: 'colour' }] }, 'VALIDATION'],
  ['afterId with sort', { sort: [{ field: name }], afterId: 'a' }, 'VALIDATION'],
  ['a negative limit', { limit: -1 }, 'VALIDATION'],
  ['half a limit', { limit: 1.5 }, 'VALIDATION'],
  ['a limit that is no number', { limit: Number.NaN }, 'VALIDATION'],
  ['a negative offset', { offset: -1 }, 'VALIDATION'],
  ['a limit above 10,000', { limit: 10_001 }, 'TOO_LARGE'],
  [
    'more than 1,000 values',
    { where: [{ field: name, op: 'in', values: Array.from({ length: 1_001 }, String) }] },
    'TOO_LARGE',
  ],
  [
    'more than 200 conditions',
    { where: Array.from({ length: 201 }, () => ({ field: size, op: 'gt', value: 0 })) },
    'TOO_LARGE',
  ],
  ['a value of more than 2,000 bytes', { where: [{ field: name, op: 'eq', value: 'x'.repeat(2_001) }] }, 'TOO_LARGE'],
  [
    'a pattern with more than 32 stars',
    { where: [{ field: name, op: 'like', pattern: 'a*'.repeat(33) }] },
    'TOO_LARGE',
  ],
]

export function definesQueries(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('each condition holds for the documents that it should, whether found, counted or listed', async ({ store }) => {
    const things = await withSamples(store)
    for (const [title, where, expected] of CONDITIONS) {
      const found = (await things.find({ where })).map((stored) => stored.id).join('')
      const ids = (await things.ids({ where })).join('')
      expect([title, found, ids, await things.count(where)]).toEqual([title, expected, expected, expected.length])
    }
  })

  fact('countBy counts the values of a text field, absent ones not', async ({ store }) => {
    const things = await withSamples(store)
    expect([...(await things.countBy('status'))]).toEqual([
      ['', 1],
      ['off', 1],
      ['on', 3],
    ])
    expect(await things.countBy('status', [{ field: tags, op: 'eq', value: 'hot' }])).toEqual(new Map([['on', 2]]))
    expect(await things.countBy('status', [{ field: size, op: 'gt', value: 1e300 }])).toEqual(new Map())
    for (const field of ['size', 'tags', 'at', 'id', 'colour']) {
      await expectCode(() => things.countBy(field), 'VALIDATION', field)
    }
  })

  fact('ids are ordered by code point', async ({ store, things }) => {
    const ids = [
      '\u{1f600}',
      '～',
      '\u{10000}',
      '\uffff',
      'z',
      'Z',
      'ä',
      '10',
      '9',
      ' ',
      '_',
      'z/',
      'z-',
      'z\u{1f600}',
      'z～',
    ]
    await store.commit(ids.map((id) => things.putting(id, {})))
    const expected = [...ids].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    expect(await things.ids({})).toEqual(expected)
    const walked: string[] = []
    for (let page = await things.ids({ limit: 2 }); page.length > 0;) {
      walked.push(...page)
      page = await things.ids({ limit: 2, afterId: page.at(-1) ?? '' })
    }
    expect(walked).toEqual(expected)
  })

  fact('1,000 come where no limit is given, and 10,000 at most', async ({ store, things }) => {
    const ids = Array.from({ length: 1_203 }, (_, i) => `t${String(i).padStart(4, '0')}`)
    for (let i = 0; i < ids.length; i += 500)
      await store.commit(ids.slice(i, i + 500).map((id) => things.putting(id, {})))
    expect(await things.ids({})).toEqual(ids.slice(0, 1_000))
    expect(await things.ids({ limit: 10_000 })).toEqual(ids)
    expect(await things.find({ offset: 1_100 })).toHaveLength(103)
    expect(await things.count()).toBe(1_203)
  })

  fact('a question that makes no sense is refused, by find, ids and count alike', async ({ store }) => {
    const things = await withSamples(store)
    for (const [title, question, code] of REFUSED) {
      const query = question as Query
      await expectCode(() => things.find(query), code, title)
      await expectCode(() => things.ids(query), code, title)
      if (query.where !== undefined) {
        const { where } = query
        await expectCode(() => things.count(where), code, title)
        await expectCode(() => things.countBy('status', where), code, title)
      }
    }
  })

  fact('no condition reaches out of its value', async ({ store }) => {
    const things = await withSamples(store)
    for (const value of ["' OR '1'='1", "'; DROP TABLE c_things; --", '") OR ("" = "', '$1', '?1', ':a', '%', '\\']) {
      expect(await things.ids({ where: [{ field: name, op: 'eq', value }] })).toEqual([])
      expect(await things.ids({ where: [{ field: name, op: 'startsWith', value }] })).toEqual([])
      expect(await things.ids({ where: [{ field: tags, op: 'in', values: [value] }] })).toEqual([])
    }
    expect(await things.count()).toBe(9)
  })
}
