/** Selects the version that lists show for a name. */
import type { FunctionRecord } from '../function-record.ts'
import type { InclusionQuery } from '../function-schema.ts'
import { compareVersions } from './versions.ts'

type Selectable = Pick<FunctionRecord, 'name' | 'version' | 'draft' | 'deprecated' | 'status'>

/** Prefers published versions that are not deprecated. `include` changes the preference, or excludes versions. */
export function latestOf<T extends Selectable>(versions: readonly T[], include: InclusionQuery): T | undefined {
  const allowed = versions
    .filter((one) => isAllowed(one, include))
    .toSorted((a, b) => compareVersions(b.version, a.version))
  const isDraft = (one: T): boolean => one.draft && include.includeDraft !== true
  const isDeprecated = (one: T): boolean => one.deprecated && include.includeDeprecated !== true
  return (
    allowed.find((one) => !isDraft(one) && !isDeprecated(one)) ??
    allowed.find((one) => !isDraft(one)) ??
    allowed.find((one) => !isDeprecated(one)) ??
    allowed[0]
  )
}

export function isAllowed({ draft, deprecated, status }: Selectable, include: InclusionQuery): boolean {
  if (draft && include.includeDraft === false) return false
  if (deprecated && include.includeDeprecated === false) return false
  return status !== 'undeployed' || include.includeUndeployed === true
}

export function compareNames(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()]
  if (lowA !== lowB) return lowA < lowB ? -1 : 1
  return a < b ? -1 : Number(a > b)
}
