/** Searches runtimes and their versions. */
import { AppError } from '#kernel'
import type { Tag } from '../contract.ts'
import type { RUNTIME_LEVELS, RuntimeQuery, TagQueryOptions } from '../function-schema.ts'
import { type FunctionType, TYPE_NAMES } from '../function-type.ts'
import { type Runtime, RUNTIMES, type RuntimeVersion } from '../runtimes/catalog.ts'
import { tagsIn, tagsLike } from './tags.ts'
import { isInRange, isRange } from './versions.ts'
import { wildcard } from './wildcard.ts'

export interface ShownRuntime extends Runtime {
  readonly shown: readonly RuntimeVersion[]
}

export function listRuntimes(query: Omit<RuntimeQuery, 'showTags'>): readonly ShownRuntime[] {
  const { name = '*', version = '*', latest = 'minor', includeDeprecated = false, tags = [] } = query
  if (!isRange(version)) throw new AppError('VALIDATION', `"${version.slice(0, 100)}" is not a range of versions`)
  const fits = wildcard(name.toLowerCase())
  return [...RUNTIMES.values()].flatMap((runtime) => {
    const { functionType, archiveFormat } = runtime
    const matches =
      fits(runtime.name.toLowerCase()) &&
      tags.every((tag) => runtime.tags.includes(tag)) &&
      isAmong(query.functionType, [functionType, TYPE_NAMES[functionType].wire]) &&
      isAmong(query.archiveFormat, [archiveFormat])
    if (!matches) return []
    const found = runtime.versions.filter(
      (one) => isInRange(one.version, version) && (includeDeprecated || one.deprecated !== true),
    )
    return found.length === 0 ? [] : [{ ...runtime, shown: newestOfEach(found, latest) }]
  })
}

export function runtimeAt(
  name: string,
  range: string,
  includeDeprecated: boolean,
): { readonly runtime: Runtime; readonly version: RuntimeVersion } {
  const runtime = RUNTIMES.get(name)
  const version = runtime?.versions.find(
    (one) => isRange(range) && isInRange(one.version, range) && (includeDeprecated || one.deprecated !== true),
  )
  if (runtime === undefined || version === undefined)
    throw new AppError('NOT_FOUND', `No runtime '${name.slice(0, 100)}@${range.slice(0, 100)}'`)
  return { runtime, version }
}

export interface ChosenRuntime extends Runtime {
  readonly version: string
}

export function findRuntime(
  type: FunctionType,
  { runtime, runtimeVersion = '*' }: { readonly runtime: string; readonly runtimeVersion?: string | undefined },
): ChosenRuntime {
  const found = RUNTIMES.get(runtime)
  if (found?.functionType !== type) {
    const known = [...RUNTIMES.values()].flatMap((one) => (one.functionType === type ? [one.name] : []))
    const names = known.join(', ') || 'none'
    throw new AppError(
      'VALIDATION',
      `the runtime ${runtime.slice(0, 100)} for a ${TYPE_NAMES[type].noun} does not exist; use one of ${names}`,
    )
  }
  const chosen = found.versions.find(({ version }) => isInRange(version, runtimeVersion))
  if (chosen === undefined)
    throw new AppError('VALIDATION', `${runtime} has no version ${runtimeVersion.slice(0, 100)}`)
  return { ...found, version: chosen.version }
}

export function runtimeTags(runtimes: readonly Pick<Runtime, 'tags'>[], query: TagQueryOptions = {}): readonly Tag[] {
  const names = [...new Set(runtimes.flatMap(({ tags }) => tags))].toSorted()
  return tagsLike(tagsIn(names), query)
}

/** Keeps only the newest version at each level. `versions`: newest first. */
function newestOfEach(
  versions: readonly RuntimeVersion[],
  level: (typeof RUNTIME_LEVELS)[number],
): readonly RuntimeVersion[] {
  if (level === 'false') return versions
  const parts = { true: 0, major: 1, minor: 2, patch: 3 }[level]
  const seen = new Set<string>()
  return versions.filter(({ version }) => {
    const key = version.split('.').slice(0, parts).join('.')
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  })
}

/** True when the names pass the filters: one ending in `-` excludes a name, and any of the others may match. */
function isAmong(filters: readonly string[] | undefined, names: readonly string[]): boolean {
  if (filters === undefined) return true
  const out = filters.filter((one) => one.endsWith('-')).map((one) => one.slice(0, -1))
  const wanted = filters.filter((one) => !one.endsWith('-'))
  return (
    !names.some((name) => out.includes(name)) && (wanted.length === 0 || names.some((name) => wanted.includes(name)))
  )
}
