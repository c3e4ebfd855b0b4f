/** Which constraints of a type are to be held against its resources. */
import { AppError, type Issue } from '../../../kernel/errors.ts'
import { sameJson } from '../../../kernel/json.ts'
import { refuse } from '../../../kernel/issues.ts'
import type { Attributes } from '../attributes.ts'
import type { ConstraintRecord } from '../constraint-record.ts'
import { constraintNotFound, problem } from '../error-texts.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { AppliedConstraint, TypeRecord } from '../type-record.ts'
import { mergeAttributes } from './merge-attributes.ts'
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
  if (mergeAttributes([RESERVED, ...found.map(({ attributes }) => attributes)]) === undefined) {
    throw new AppError('VALIDATION', 'constraints are incompatible to each other')
  }
  const isSame = before !== undefined && sameJson(before.own, own)
  return ids.map((constraintId): AppliedConstraint => {
    const known = before?.constraints.find((each) => each.constraintId === constraintId)
    if (isSame && known !== undefined) return known
    return { constraintId, status: users > 0 ? 'applying' : 'ineffect' }
  })
}
