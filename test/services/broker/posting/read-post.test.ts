import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { PostOptions } from '../../../../src/services/broker/contract.ts'
import { readCommand, readPost } from '../../../../src/services/broker/posting/read-post.ts'
import { NOON } from '../support/bench-of-broker.ts'

const UNSTORED = 'has a NUL or half of a surrogate pair'

function read(body: unknown, resource?: string, options: PostOptions = {}) {
  return readPost(resource, body, options, NOON)
}

function problems(work: () => unknown): readonly string[] | string {
  try {
    work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.issues.length === 0 ? error.code : error.issues.map(({ path, message }) => `${path} <- ${message}`)
  }
  return 'none'
}

describe('a post', () => {
  it('takes the resource of the path before that of the body', () => {
    const { arrivals } = read({ resource: 'b', t: 1 }, 'a')
    expect(arrivals).toEqual([
      { resource: 'a', message: { t: 1, timestamp: NOON }, text: `{"t":1,"timestamp":${NOON}}`, isUnstamped: true },
    ])
  })

  it.each<[unknown, number]>([
    [undefined, NOON],
    [null, NOON],
    [0, 0],
    [-1, -1],
    [1_617_088_439_000, 1_617_088_439_000],
    [1_617_088_439_000.75, 1_617_088_439_000],
    ['2021-03-30T07:13:59Z', 1_617_088_439_000],
    ['2021-03-30T09:13:59+02:00', 1_617_088_439_000],
  ])('with timestamp %j is of %d', (timestamp, expected) => {
    expect(read({ timestamp, t: 1 }, 'a').arrivals[0]?.message).toEqual({ t: 1, timestamp: expected })
  })

  it.each<[string, unknown, readonly string[]]>([
    ['a number', 3, [' <- must be an object with metrics']],
    ['an array in an array', [[]], ['/0 <- must be an object with metrics']],
    ['a resource with half a pair', { resource: '\ud800' }, [`/resource <- the id of a resource ${UNSTORED}`]],
    ['a long resource', { resource: 'é'.repeat(257) }, ['/resource <- the id of a resource has more than 512 bytes']],
    ['a time that is none', { resource: 'a', timestamp: 'noon' }, ['/timestamp <- "noon" is not a valid time']],
    [
      'a day that there is not',
      { resource: 'a', timestamp: '2026-02-30T08:00:00Z' },
      ['/timestamp <- "2026-02-30T08:00:00Z" is not a valid time: day 2026-02-30 does not exist, that month has 28'],
    ],
    [
      'a time beyond dates',
      { resource: 'a', timestamp: 8.65e15 },
      ['/timestamp <- 8650000000000000 is not a valid time'],
    ],
    ['an infinite number', { resource: 'a', t: Number.POSITIVE_INFINITY }, ['/t <- is a number beyond 1.8e308']],
    ['an infinite number inside', { resource: 'a', o: { p: [Number.NaN] } }, ['/o/p/0 <- is a number beyond 1.8e308']],
    ['a metric without name', { resource: 'a', '': 1 }, ['/ <- the name of a metric is empty']],
    ['a long text', { resource: 'a', t: 'x'.repeat(65_537) }, ['/t <- has 65537 bytes']],
    ['a NUL', { resource: 'a', t: '\0' }, [`/t <- ${UNSTORED}`]],
    ['half a pair in a list', { resource: 'a', t: [1, '\ud800'] }, [`/t/1 <- ${UNSTORED}`]],
    ['half a pair in a key', { resource: 'a', t: { '\udc00': 1 } }, [`/t/\udc00 <- the key ${UNSTORED}`]],
    ['too much', { resource: 'a', t: ['x'.repeat(400_000)] }, [' <- has 400036 bytes']],
    [
      'several problems',
      [{ t: 1 }, 5, { resource: 'a', timestamp: {} }],
      ['/0/resource <- is missing', '/1 <- must be an object with metrics', '/2/timestamp <- {} is not a valid time'],
    ],
  ])('with %s is rejected, all problems at once', (_what, body, expected) => {
    expect(problems(() => read(body))).toEqual(expected)
  })

  it('rejects keys that reach a prototype', () => {
    const body: unknown = JSON.parse('{"resource":"a","__proto__":1,"o":{"constructor":2}}')
    expect(problems(() => read(body))).toEqual(['/__proto__ <- the key __proto__ is the name of a prototype property'])
    expect(problems(() => read({ resource: 'a', o: JSON.parse('{"constructor":2}') as unknown }))).toEqual([
      '/o/constructor <- the key constructor is the name of a prototype property',
    ])
  })

  it('takes any other name of a metric, and any number that a double can hold', () => {
    const metrics = {
      'a/b~c': 1,
      'tempé °C': 2,
      toString: 3,
      big: 2 ** 60,
      tiny: -5e-324,
      no: null,
      list: [1, { a: 2 }],
    }
    expect(read(metrics, 'x/ÿ/😀').arrivals[0]?.message).toEqual({ ...metrics, timestamp: NOON })
  })

  it('rejects more than 10,000 messages, or 900,000 bytes of them in a list, and more than 16 rules in a row', () => {
    const many = Array.from({ length: 10_001 }, () => ({ resource: 'a' }))
    expect(problems(() => read(many))).toBe('TOO_LARGE')
    const long = ['a', 'b', 'c'].map((resource) => ({
      resource,
      t: Array.from({ length: 6 }, () => 'x'.repeat(60_000)),
    }))
    expect(problems(() => read(long))).toBe('TOO_LARGE')
    expect(problems(() => read(long.slice(1)))).toBe('none')
    expect(problems(() => read({ t: 1 }, 'a', { hops: 17 }))).toBe('VALIDATION')
    expect(read({ t: 1 }, 'a', { hops: 16 }).hops).toBe(16)
  })

  it.each<[string | number, number | undefined]>([
    ['3600', 3_600_000],
    [3600, 3_600_000],
    ['52w', 52 * 7 * 86_400_000],
    ['2d', 2 * 86_400_000],
    ['12h', 12 * 3_600_000],
    ['42m', 42 * 60_000],
    ['7s', 7_000],
    ['P1DT2H', 26 * 3_600_000],
    ['PT0.5S', 500],
    // no limit
    ['0', undefined],
    [0, undefined],
  ])('with a time to live of %s is gone %d ms after its arrival', (ttl, ms) => {
    expect(read({ t: 1, timestamp: 5 }, 'a', { ttl }).expires).toBe(ms && NOON + ms)
  })

  it.each([
    '1d12h',
    '5M',
    '5 m',
    '-5',
    '-PT5M',
    'P1Y',
    'PT',
    '1.5h',
    '',
    'x',
    '9'.repeat(16),
    '9'.repeat(15) + 'w',
    -1,
    1.5,
  ])('has no time to live of %s', (ttl) =>
    expect(problems(() => read({}, 'a', { ttl }))).toEqual([`/ttl <- "${ttl}" is not a valid time to live`]),
  )
})

describe('a command', () => {
  it('is kept, and never handed to tasks as data', () => {
    const post = readCommand('a', { name: 'on', level: 3 }, {}, NOON)
    expect(post).toMatchObject({ channel: 'commands', store: true, forward: false })
    expect(post.arrivals[0]?.message).toEqual({ name: 'on', level: 3, timestamp: NOON })
  })
})
