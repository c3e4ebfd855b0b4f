/** Which constraints of a type are to be held against its resources. */
import { type AppError, type Issue, refuse, sameJson } from '#kernel'
import type { Attributes } from '../attributes.ts'
import { constraintNotFound, problem } from '../error-texts.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { AppliedConstraint, TypeRecord } from '../type-record.ts'
import type { ConstraintRecord } from './constraint-schema.ts'
import { contradictions, type Contradiction } from './merge-attributes.ts'
import { RESERVED } from './reserved.ts'

/**
 * The constraints of a type with their status: new ones, and all when the type's own values changed, are to be held
 * against its resources. Throws `VALIDATION` for one that is not there and for those that contradict each other.
 */
export async function appliedConstraints(
  tenantResources: TenantResources,
  ids: readonly string[],
  before: TypeRecord | undefined,
  own: Attributes,
  users: number,
): Promise<readonly AppliedConstraint[]> {
  const found: ConstraintRecord[] = []
  const missing: Issue[] = []
  for (const id of ids) {
    const constraint = await tenantResources.constraints.get(id)
    if (constraint === undefined) missing.push(problem('/$constraints', constraintNotFound(id).message))
    else found.push(constraint)
  }
  if (missing.length > 0) throw refuse('the resource type', missing)
  const wishes = found.map(({ id, name, attributes }) => ({ from: `${JSON.stringify(name)} (${id})`, attributes }))
  const opposed = contradictions([{ from: 'what the platform reserves', attributes: RESERVED }, ...wishes])
  if (opposed.length > 0) throw incompatible(opposed)
  const isSame = before !== undefined && sameJson(before.own, own)
  return ids.map((constraintId): AppliedConstraint => {
    const known = before?.constraints.find((each) => each.constraintId === constraintId)
    if (isSame && known !== undefined) return known
    return { constraintId, status: users > 0 ? 'applying' : 'ineffect' }
  })
}

function incompatible(opposed: readonly Contradiction[]): AppError {
  const issues = opposed.map(({ attribute, between }) => {
    const where = `nothing fits the attribute ${attribute} of ${between.join(' and ')}`
    return problem('/$constraints', `constraints are incompatible to each other: ${where}`, 'leave out one of them')
  })
  return refuse('the resource type', issues)
}
