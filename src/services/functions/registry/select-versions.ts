/** Which version of each name a listing shows. */
import { compareVersions } from './versions.ts'

/** What the choice looks at. */
export interface Selectable {
  readonly name: string
  readonly version: string
  readonly draft: boolean
  readonly deprecated: boolean
  readonly status: string
}

/** `true`: may be chosen as any other; `false`: is left out; undefined: only when there is nothing else. */
export interface Inclusion {
  readonly draft?: boolean | undefined
  readonly deprecated?: boolean | undefined
  /** undefined: left out */
  readonly undeployed?: boolean | undefined
}

/** The latest version among those of one name; undefined when none may be shown. */
export function latestOf<T extends Selectable>(versions: readonly T[], include: Inclusion): T | undefined {
  const allowed = versions
    .filter((one) => isAllowed(one, include))
    .toSorted((a, b) => compareVersions(b.version, a.version))
  const isDraft = (one: T): boolean => one.draft && include.draft !== true
  const isDeprecated = (one: T): boolean => one.deprecated && include.deprecated !== true
  return (
    allowed.find((one) => !isDraft(one) && !isDeprecated(one)) ??
    allowed.find((one) => !isDraft(one)) ??
    allowed.find((one) => !isDeprecated(one)) ??
    allowed[0]
  )
}

export function isAllowed({ draft, deprecated, status }: Selectable, include: Inclusion): boolean {
  if (draft && include.draft === false) return false
  if (deprecated && include.deprecated === false) return false
  return status !== 'undeployed' || include.undeployed === true
}

/** Without regard to case first. */
export function compareNames(a: string, b: string): number {
  const [lowA, lowB] = [a.toLowerCase(), b.toLowerCase()]
  if (lowA !== lowB) return lowA < lowB ? -1 : 1
  return a < b ? -1 : Number(a > b)
}
