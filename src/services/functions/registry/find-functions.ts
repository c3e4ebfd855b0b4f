/** Lists functions, and converts them to their form in responses. */
import type { FunctionPage, FunctionVersion, RelatedVersions } from '../contract.ts'
import type { FunctionQuery, InclusionQuery, ShowTags } from '../function-schema.ts'
import { type FunctionRecord, type FunctionUpdate, lockOf } from '../function-record.ts'
import type { Indexed } from '../function-index.ts'
import { noFunction } from '../function-store.ts'
import { type FunctionType, TYPE_NAMES } from '../function-type.ts'
import { makeIssue, refuse } from '#kernel'
import { RUNTIMES } from '../runtimes/catalog.ts'
import { isAllowed, latestOf } from './select-versions.ts'
import { defaultColor, type TagRecord } from './tags.ts'
import { isInRange } from './versions.ts'
import { readTagQuery } from './tag-query.ts'
import { wildcard } from './wildcard.ts'

const DEFAULT_LIMIT = 20

/** Filters on single versions, which turn off the display of related versions. */
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

export interface Showing {
  readonly tags: ReadonlyMap<string, TagRecord>
  readonly showTags?: ShowTags | undefined
  readonly isSingle?: boolean
}

export function shown(record: FunctionRecord, showing: Showing): FunctionVersion {
  const { type, name, version, status, draft, deprecated } = record
  const tags = showing.showTags === 'embed' ? { tags: shownTags(record.tags, showing.tags) } : {}
  return { type, name, version, status, draft, deprecated, record: wireOf(record, showing), ...tags }
}

export function latestIn(indexed: Indexed, type: FunctionType, name: string, query: InclusionQuery): FunctionRecord {
  const found = latestOf(indexed.versions(type, name), inclusionOf(query))
  if (found === undefined) throw noFunction(type, name)
  return found
}

/** Lists functions. `user`: the user that `@me` refers to. */
export function list(indexed: Indexed, type: FunctionType, query: FunctionQuery, user: string): FunctionPage {
  const isOfVersions = OF_VERSIONS.some((key) => query[key] !== undefined)
  const isLatest = query.latest ?? query.nameVersion === undefined
  const fits = filterOf(query, user)
  const include = inclusionOf(query)
  const groups =
    query.exactName === undefined
      ? indexed.groups(type)
      : [{ name: query.exactName, versions: indexed.versions(type, query.exactName) }]
  const isNamed = nameTest(query)
  const chosen = groups.flatMap(({ name, versions }) => {
    if (!isNamed(name)) return []
    const matching = versions.filter(fits)
    if (!isLatest)
      return matching.filter((one) =>
        isAllowed(one, { ...query, includeUndeployed: query.includeUndeployed !== false }),
      )
    return latestOf(matching, include) ?? []
  })
  const { limit = DEFAULT_LIMIT, page, showTags } = query
  const from = (page ?? 0) * limit
  const showRelated = isOfVersions || !isLatest ? 'none' : (query.showRelated ?? 'link')
  const showing = { tags: indexed.tags, showTags }
  const entities = chosen.slice(from, from + limit).map((record) => {
    const related = showRelated === 'none' ? {} : relatedOf(record, indexed.versions(type, record.name), showing)
    return { ...shown(record, showing), showRelated, related }
  })
  return { entities, count: chosen.length, limit, ...(page !== undefined && { page }) }
}

export function relatedOf(
  record: FunctionRecord,
  others: readonly FunctionRecord[],
  showing: Showing,
): RelatedVersions {
  const draft = latestOf(
    others.filter((one) => one.draft),
    { includeDraft: true, includeDeprecated: true, includeUndeployed: true },
  )
  const published = latestOf(
    others.filter((one) => !one.draft),
    { includeUndeployed: true },
  )
  const isOther = (one: FunctionRecord | undefined): one is FunctionRecord =>
    one !== undefined && one.version !== record.version
  return {
    ...(isOther(draft) && { draft: shown(draft, showing) }),
    ...(isOther(published) && { published: shown(published, showing) }),
  }
}

function inclusionOf(query: FunctionQuery): InclusionQuery {
  return { ...query, includeUndeployed: query.includeUndeployed ?? query.status !== undefined }
}

function nameTest({ name }: FunctionQuery): (name: string) => boolean {
  if (name === undefined) return () => true
  const fits = wildcard(name.toLowerCase())
  return (one) => fits(one.toLowerCase())
}

function filterOf(query: FunctionQuery, user: string): (record: FunctionRecord) => boolean {
  const tests: ((record: FunctionRecord) => boolean)[] = [statusTest(query)]
  const when = <T>(value: T | undefined, test: (value: T) => (record: FunctionRecord) => boolean): void => {
    if (value !== undefined) tests.push(test(value))
  }
  const userOf = (text: string): string => (text === '@me' ? user : text)
  when(query.version, (version) => {
    const fits = wildcard(version)
    return (one) => fits(one.version)
  })
  when(query.nameVersion, (named) => (one) => named.includes(`${one.name}@${one.version}`))
  when(query.type, (types) => (one) => one.manifest.type !== undefined && types.includes(one.manifest.type))
  when(query.draft, (draft) => (one) => one.draft === draft)
  when(query.deprecated, (deprecated) => (one) => one.deprecated === deprecated)
  when(query.tags, (tags) => (one) => tags.every((tag) => one.tags.includes(tag)))
  when(query.wql, (wql) => {
    const fits = tagFilter(wql)
    return (one) => fits(one.tags)
  })
  when(query.runtime, (runtimes) => (one) => runtimes.includes(one.manifest.runtime))
  when(query.runtimeVersion, (range) => (one) => isInRange(one.runtimeVersion, range))
  when(query.archiveFormat, (formats) => (one) => {
    const format = RUNTIMES.get(one.manifest.runtime)?.archiveFormat
    return format !== undefined && formats.includes(format)
  })
  when(query.createdBy, (by) => (one) => one.createdBy === userOf(by))
  when(query.updatedBy, (by) => (one) => one.updatedBy === userOf(by))
  when(query.createdBefore, (time) => (one) => one.createdAt < time)
  when(query.createdAfter, (time) => (one) => one.createdAt > time)
  when(query.updatedBefore, (time) => (one) => one.updatedAt < time)
  when(query.updatedAfter, (time) => (one) => one.updatedAt > time)
  return (record) => tests.every((test) => test(record))
}

function tagFilter(wql: string): (tags: readonly string[]) => boolean {
  const read = readTagQuery(wql)
  if ('fits' in read) return read.fits
  const suggestion = 'write a condition such as tag:like("heat*") AND NOT tag:old'
  throw refuse('the query', [makeIssue('QUERY', '/wql', read.problem, suggestion)])
}

/** Tests the status: a value ending in `-` excludes a status, and any of the other values may match. */
function statusTest({ status, includeUndeployed }: FunctionQuery): (record: FunctionRecord) => boolean {
  if (status === undefined) return (one) => one.status !== 'undeployed' || includeUndeployed === true
  const out = new Set(status.filter((one) => one.endsWith('-')).map((one) => one.slice(0, -1)))
  const among = new Set(status.filter((one) => !one.endsWith('-')))
  const isAny = among.size === 0 || among.has('any')
  return (one) => !out.has(one.status) && (isAny || among.has(one.status))
}

const PLUG_INVOCATION = {
  auth: 'none',
  taskContext: true,
  nodeContext: true,
  rawDataContext: true,
  callback: false,
} as const

function wireOf(record: FunctionRecord, showing: Showing): Readonly<Record<string, unknown>> {
  const { createdBy, createdAt, updatedBy, updatedAt, status, draft, deprecated, revision, failure, overrides } = record
  const manifest = { ...record.manifest, ...(overrides && { deploy: { ...record.manifest.deploy, ...overrides } }) }
  const locked = lockOf(record)
  const tags =
    showing.showTags === 'none' || showing.showTags === 'embed' ? record.tags : shownTags(record.tags, showing.tags)
  return {
    createdBy,
    createdAt: new Date(createdAt).toISOString(),
    updatedBy,
    updatedAt: new Date(updatedAt).toISOString(),
    status,
    ...(failure && { failureReason: { cause: failure.reason, log: failure.log, events: [] } }),
    runtime: runtimeState(manifest.runtime, record.runtimeVersion),
    deprecated,
    draft,
    ...(draft && { revision }),
    [TYPE_NAMES[record.type].noun]: {
      ...manifest,
      metadata: { ...manifest.metadata, ...(tags.length > 0 && { tags }) },
      tags,
    },
    ...(record.type === 'webscripts' && { secret: record.secret ?? null }),
    ...(showing.isSingle === true && {
      ...(locked !== undefined && { lockedPackages: locked }),
      ...(record.type === 'plugs' && { invocation: PLUG_INVOCATION }),
      updates: record.updates.map(updateOf),
    }),
  }
}

/** Returns tags with colors; a deleted tag has its default color. */
export function shownTags(names: readonly string[], tags: Showing['tags']): readonly TagRecord[] {
  return names.map((name) => tags.get(name) ?? { name, color: defaultColor(name) })
}

function runtimeState(name: string, version: string): Readonly<Record<string, unknown>> {
  const versions = RUNTIMES.get(name)?.versions
  const isKnown = versions?.some((one) => one.version === version) === true
  return { name, version, deprecated: !isKnown, upgradable: isKnown && versions[0]?.version !== version }
}

function updateOf({ at, ...update }: FunctionUpdate): Readonly<Record<string, unknown>> {
  return { ...update, at: new Date(at).toISOString() }
}
