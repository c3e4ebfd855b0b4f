/** Which version of each name a listing shows. */
import type { FunctionRecord } from '../function-record.ts'
import type { InclusionQuery } from '../function-schema.ts'
import { compareVersions } from './versions.ts'

type Selectable = Pick<FunctionRecord, 'name' | 'version' | 'draft' | 'deprecated' | 'status'>

/**
 * The latest version among those of one name; undefined when none may be shown. What is included may be chosen as any
 * other; what is not is left out; without a word drafts and deprecated versions are chosen when there is nothing else.
 */
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

/** Without regard to case first. */
export function compareNames(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()]
  if (lowA !== lowB) return lowA < lowB ? -1 : 1
  return a < b ? -1 : Number(a > b)
}
