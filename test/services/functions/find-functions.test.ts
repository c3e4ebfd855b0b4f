import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { FunctionQuery } from '../../../src/services/functions/contract.ts'
import type { FunctionRecord, FunctionStatus } from '../../../src/services/functions/function-record.ts'
import { FunctionStore } from '../../../src/services/functions/function-store.ts'
import { list } from '../../../src/services/functions/registry/find-functions.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { recordOf } from './support/records.ts'

/** Parses `name 1.0.0`, optionally followed by d for a draft, x for deprecated, u for undeployed. */
function versionOf(text: string): FunctionRecord {
  const [name = '', version = '', marks = ''] = text.split(' ')
  const status = marks.includes('u') ? 'undeployed' : 'running'
  return recordOf({ name, version, status, draft: marks.includes('d'), deprecated: marks.includes('x') })
}

async function listed(records: readonly FunctionRecord[], query: FunctionQuery): Promise<readonly string[]> {
  const store = new FunctionStore(openMemory().tenant('t'))
  await store.store.commit(records.flatMap((record) => store.putting(record, 'absent')))
  const page = list(await store.indexed(), 'plugs', { limit: 100, ...query }, 'anna')
  expect(page.count).toBe(page.entities.length)
  return page.entities.map(({ name, version, related: { draft, published } = {} }) =>
    [`${name} ${version}`, draft && `d${draft.version}`, published && `p${published.version}`]
      .filter(Boolean)
      .join(' '),
  )
}

const FLEET = [
  'a 1.0.0',
  'a 1.1.0 x',
  'a 2.0.0 d',
  'b 1.0.0 u',
  'c 1.0.0 x',
  'c 1.1.0 d',
  'D 1.0.0 d',
  'e 1.0.0 xd',
].map(versionOf)

describe('a list', () => {
  it.each<[string, FunctionQuery, readonly string[]]>([
    ['has one of each name, with its draft', {}, ['a 1.0.0 d2.0.0', 'c 1.0.0 d1.1.0', 'D 1.0.0', 'e 1.0.0']],
    ['has no links if so requested', { showRelated: 'none' }, ['a 1.0.0', 'c 1.0.0', 'D 1.0.0', 'e 1.0.0']],
    ['of exact versions', { nameVersion: ['a@2.0.0', 'c@1.0.0', 'x@1.0.0'] }, ['a 2.0.0', 'c 1.0.0']],
    ['of the caller', { createdBy: '@me', updatedBy: 'anna', name: 'a' }, ['a 1.0.0']],
    ['of a time', { createdBefore: 1_000 }, []],
    ['of another time', { createdAfter: 999, updatedBefore: 1_001, name: 'a' }, ['a 1.0.0']],
    ['of a runtime', { runtime: ['plug-python3'] }, []],
    [
      'of one of several runtimes',
      { runtime: ['plug-python3', 'plug-node24'], archiveFormat: ['node'], runtimeVersion: '^1', name: 'a' },
      ['a 1.0.0'],
    ],
    ['of a kind', { type: ['actuator'] }, []],
  ])('%s', async (_, query, shown) => {
    expect(await listed(FLEET, query)).toEqual(shown)
  })

  it('equals a filter over each record', async () => {
    const flag = fc.constantFrom(undefined, true, false)
    const part = fc.nat({ max: 2 })
    const record = fc
      .record({
        name: fc.constantFrom('a', 'B', 'b'),
        version: fc.tuple(part, part, part).map((parts) => parts.join('.')),
        draft: fc.boolean(),
        deprecated: fc.boolean(),
        status: fc.constantFrom<FunctionStatus>('running', 'undeployed', 'failed'),
        tags: fc.subarray(['x', 'Y']),
        createdBy: fc.constantFrom('anna', 'bob'),
      })
      .map(recordOf)
    const records = fc.uniqueArray(record, { selector: ({ name, version }) => `${name}@${version}`, maxLength: 12 })
    const query: fc.Arbitrary<FunctionQuery> = fc.record({
      includeDraft: flag,
      includeDeprecated: flag,
      includeUndeployed: flag,
      draft: flag,
      deprecated: flag,
      latest: flag,
      status: fc.constantFrom(undefined, undefined, ['any'], ['failed'], ['undeployed-'], ['running', 'undeployed']),
      name: fc.constantFrom(undefined, undefined, 'b', 'a*'),
      version: fc.constantFrom(undefined, undefined, '1.*', '?.0.0'),
      tags: fc.constantFrom(undefined, undefined, ['x'], ['x', 'Y']),
      wql: fc.constantFrom(undefined, undefined, 'tag:y', 'NOT tag:x'),
      createdBy: fc.constantFrom(undefined, undefined, '@me', 'bob'),
    })
    await fc.assert(
      fc.asyncProperty(records, query, async (all, asked) => {
        expect(await listed(all, { ...asked, showRelated: 'none' })).toEqual(naive(all, asked))
      }),
    )
  })
})

/** Applies each filter by its definition, and picks the best version of each name by rank. */
function naive(all: readonly FunctionRecord[], query: FunctionQuery): readonly string[] {
  const admitsUndeployed = query.includeUndeployed ?? query.status !== undefined
  const matching = all.filter((one) => {
    const { status = admitsUndeployed ? ['any'] : ['undeployed-'] } = query
    const out = status.includes(`${one.status}-`)
    const isIn = status.every((text) => text.endsWith('-')) || status.includes('any') || status.includes(one.status)
    if (out || !isIn) return false
    if (query.draft !== undefined && one.draft !== query.draft) return false
    if (query.deprecated !== undefined && one.deprecated !== query.deprecated) return false
    if (query.name === 'b' && one.name.toLowerCase() !== 'b') return false
    if (query.name === 'a*' && !one.name.startsWith('a')) return false
    if (query.version === '1.*' && !one.version.startsWith('1.')) return false
    if (query.version === '?.0.0' && !one.version.endsWith('.0.0')) return false
    if (query.tags?.some((tag) => !one.tags.includes(tag))) return false
    if (query.wql === 'tag:y' && !one.tags.includes('Y')) return false
    if (query.wql === 'NOT tag:x' && one.tags.includes('x')) return false
    if (query.createdBy !== undefined && one.createdBy !== (query.createdBy === '@me' ? 'anna' : 'bob')) return false
    if (one.draft && query.includeDraft === false) return false
    if (one.status === 'undeployed' && query.includeUndeployed === false) return false
    return !(one.deprecated && query.includeDeprecated === false)
  })
  const text = ({ name, version }: FunctionRecord): string => `${name} ${version}`
  const ranked = (names: readonly FunctionRecord[]): readonly FunctionRecord[] =>
    names.toSorted((one, other) => (one.version > other.version ? -1 : 1))
  if (query.latest === false)
    return ['a', 'B', 'b'].flatMap((name) => ranked(matching.filter((one) => one.name === name)).map(text))
  return ['a', 'B', 'b'].flatMap((name) => {
    const rank = (one: FunctionRecord): number => {
      const isDraft = one.draft && query.includeDraft !== true
      const isDeprecated = one.deprecated && query.includeDeprecated !== true
      return (isDraft ? 2 : 0) + (isDeprecated ? 1 : 0)
    }
    const candidates = matching.filter((one) => one.name === name && (one.status !== 'undeployed' || admitsUndeployed))
    const best = Math.min(...candidates.map(rank))
    const [first] = ranked(candidates.filter((one) => rank(one) === best))
    return first === undefined ? [] : [text(first)]
  })
}
