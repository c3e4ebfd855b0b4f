/** Functions as they are shown, and lists of them by what is asked. */
import type { FunctionPage, FunctionQuery, FunctionVersion, InclusionQuery, ListedFunction } from '../contract.ts'
import type { FunctionRecord, FunctionUpdate } from '../function-record.ts'
import { noFunction } from '../function-store.ts'
import { RUNTIMES } from '../runtimes/catalog.ts'
import { inOrder, type Inclusion, isAllowed, latestOf, latestOfEach } from './select-versions.ts'
import { isInRange } from './versions.ts'

export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 100

/** Filters that name single versions: what is related to them is not of interest. */
const OF_VERSIONS = [
  'version',
  'status',
  'runtimeVersion',
  'createdBy',
  'updatedBy',
  'createdBefore',
  'createdAfter',
  'updatedBefore',
  'updatedAfter',
  'nameVersion',
  'deprecated',
  'draft',
] as const

/** A record as it is shown. */
export function shown(record: FunctionRecord): FunctionVersion {
  const { name, version, status, draft, deprecated } = record
  return { name, version, status, draft, deprecated, record: wireOf(record) }
}

/** The latest version of a name. `NOT_FOUND`. */
export function latest(versions: readonly FunctionRecord[], name: string, query: InclusionQuery): FunctionVersion {
  const found = latestOf(versions, inclusionOf(query))
  if (found === undefined) throw noFunction(name)
  return shown(found)
}

/** `user`: who asks, which `@me` stands for. */
export function list(records: readonly FunctionRecord[], query: FunctionQuery, user: string): FunctionPage {
  const isOfVersions = OF_VERSIONS.some((key) => query[key] !== undefined)
  const isLatest = query.latest ?? query.nameVersion === undefined
  const fits = filterOf(query, user)
  const matching = records.filter(fits)
  const include = inclusionOf(query)
  const chosen = isLatest
    ? latestOfEach(matching, include)
    : inOrder(matching.filter((one) => isAllowed(one, { ...include, undeployed: true })))
  const { limit = DEFAULT_LIMIT, page } = query
  const from = (page ?? 0) * limit
  const showRelated = isOfVersions || !isLatest ? 'none' : (query.showRelated ?? 'link')
  const entities = chosen.slice(from, from + limit).map((record) => listed(record, records, showRelated))
  return { entities, count: chosen.length, limit, ...(page !== undefined && { page }) }
}

function listed(
  record: FunctionRecord,
  all: readonly FunctionRecord[],
  showRelated: ListedFunction['showRelated'],
): ListedFunction {
  if (showRelated === 'none') return { ...shown(record), showRelated }
  const others = all.filter(({ name }) => name === record.name)
  const draft = latestOf(
    others.filter((one) => one.draft),
    { draft: true, deprecated: true, undeployed: true },
  )
  const published = latestOf(
    others.filter((one) => !one.draft),
    { undeployed: true },
  )
  const isOther = (one: FunctionRecord | undefined): one is FunctionRecord => one !== undefined && one !== record
  return {
    ...shown(record),
    showRelated,
    related: {
      ...(isOther(draft) && { draft: shown(draft) }),
      ...(isOther(published) && { published: shown(published) }),
    },
  }
}

/** Undeployed versions are left out unless the status or a flag admits them. */
function inclusionOf({ includeDraft, includeDeprecated, includeUndeployed, ...query }: FunctionQuery): Inclusion {
  const undeployed = includeUndeployed ?? query.status !== undefined
  return { draft: includeDraft, deprecated: includeDeprecated, undeployed }
}

function filterOf(query: FunctionQuery, user: string): (record: FunctionRecord) => boolean {
  const tests: ((record: FunctionRecord) => boolean)[] = [statusTest(query)]
  const when = <T>(value: T | undefined, test: (value: T) => (record: FunctionRecord) => boolean): void => {
    if (value !== undefined) tests.push(test(value))
  }
  const who = (text: string): string => (text === '@me' ? user : text)
  when(query.exactName, (name) => (one) => one.name === name)
  when(query.name, (name) => textTest(name, true, (one) => one.name))
  when(query.version, (version) => textTest(version, false, (one) => one.version))
  when(query.nameVersion, (named) => (one) => named.includes(`${one.name}@${one.version}`))
  when(query.type, (types) => (one) => types.includes(one.manifest.type))
  when(query.draft, (draft) => (one) => one.draft === draft)
  when(query.deprecated, (deprecated) => (one) => one.deprecated === deprecated)
  when(query.runtime, (runtimes) => (one) => runtimes.includes(one.manifest.runtime))
  when(query.runtimeVersion, (range) => (one) => isInRange(one.runtimeVersion, range))
  when(query.archiveFormat, (formats) => (one) => {
    const format = RUNTIMES.get(one.manifest.runtime)?.archiveFormat
    return format !== undefined && formats.includes(format)
  })
  when(query.createdBy, (by) => (one) => one.createdBy === who(by))
  when(query.updatedBy, (by) => (one) => one.updatedBy === who(by))
  when(query.createdBefore, (time) => (one) => one.createdAt < time)
  when(query.createdAfter, (time) => (one) => one.createdAt > time)
  when(query.updatedBefore, (time) => (one) => one.updatedAt < time)
  when(query.updatedAfter, (time) => (one) => one.updatedAt > time)
  return (record) => tests.every((test) => test(record))
}

/** Names with a trailing `-` are left out; the others are alternatives. */
function statusTest({ status, includeUndeployed }: FunctionQuery): (record: FunctionRecord) => boolean {
  if (status === undefined) return (one) => one.status !== 'undeployed' || includeUndeployed === true
  const out = new Set(status.filter((one) => one.endsWith('-')).map((one) => one.slice(0, -1)))
  const among = new Set(status.filter((one) => !one.endsWith('-')))
  const isAny = among.size === 0 || among.has('any')
  return (one) => !out.has(one.status) && (isAny || among.has(one.status))
}

function textTest(
  pattern: string,
  isLoose: boolean,
  of: (record: FunctionRecord) => string,
): (record: FunctionRecord) => boolean {
  const fits = wildcard(isLoose ? pattern.toLowerCase() : pattern)
  return (one) => fits(isLoose ? of(one).toLowerCase() : of(one))
}

/** `*` is any text, `?` any character. Linear in the text for each star, without going back further than the last one. */
export function wildcard(pattern: string): (text: string) => boolean {
  return (text) => {
    let at = 0
    let star = -1
    let mark = 0
    let i = 0
    while (i < text.length) {
      if (pattern[at] === '*') {
        star = at++
        mark = i
      } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === text[i])) {
        at++
        i++
      } else if (star >= 0) {
        at = star + 1
        i = ++mark
      } else return false
    }
    while (pattern[at] === '*') at++
    return at === pattern.length
  }
}

function wireOf(record: FunctionRecord): Readonly<Record<string, unknown>> {
  const { createdBy, createdAt, updatedBy, updatedAt, status, draft, deprecated, revision, manifest, failure } = record
  return {
    createdBy,
    createdAt: new Date(createdAt).toISOString(),
    updatedBy,
    updatedAt: new Date(updatedAt).toISOString(),
    status,
    ...(failure && { failureReason: { cause: failure.reason, log: failure.log, events: [] } }),
    runtime: { name: manifest.runtime, version: record.runtimeVersion, deprecated: false, upgradable: false },
    deprecated,
    draft,
    ...(draft && { revision }),
    plug: { ...manifest, metadata: manifest.metadata ?? {} },
    updates: record.updates.map(updateOf),
  }
}

function updateOf({ at, ...update }: FunctionUpdate): Readonly<Record<string, unknown>> {
  return { ...update, at: new Date(at).toISOString() }
}
