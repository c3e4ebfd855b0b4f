/** The stored form of a resource type. */
import { isPlainObject, type Rights } from '#kernel'
import type { CollectionSpec } from '#storage'
import { textFields, textAt, wordsOf } from './attributes.ts'
import type { ResourceEntity } from './contract.ts'

export interface TypeRecord {
  /** attributes except `$constraints` and `$bulkOperation` */
  readonly own: ResourceEntity
  readonly constraints: readonly AppliedConstraint[]
  /** changes whenever the attributes that are indexed with the type's resources change */
  readonly mark: number
  readonly operation?: string
  /** rights of who stored its commands and templates; absent: all rights, as for types that are older than this field */
  readonly rights?: Rights
  readonly beats?: number
}

export interface AppliedConstraint {
  readonly constraintId: string
  readonly status: 'applying' | 'ineffect' | 'failed'
  readonly errors?: readonly ConstraintFailure[]
}

export interface ConstraintFailure {
  readonly error: string
  readonly errorPath: string
  readonly resources: readonly string[]
}

const TEXTS = ['name', 'provider', 'providerId', 'customer']

export const TYPES: CollectionSpec<TypeRecord> = {
  name: 'resource_types',
  version: 1,
  audited: true,
  fields: {
    ...textFields(TEXTS, ({ own }: TypeRecord, name) => textAt(own, name)),
    templates: { type: 'texts', of: ({ own }) => templateNames(own) },
    constraints: { type: 'texts', of: ({ constraints }) => constraints.map(({ constraintId }) => constraintId) },
    operation: { type: 'text', of: ({ operation }) => operation },
    words: { type: 'text', of: ({ own }) => wordsOf(['id', ...TEXTS].flatMap((name) => textAt(own, name) ?? [])) },
  },
}

/** Returns the attributes to show. `alsoBusyWith`: an operation to show if the type has none of its own. */
export function typeEntity({ own, constraints, operation }: TypeRecord, alsoBusyWith?: string): ResourceEntity {
  const busy = operation ?? alsoBusyWith
  const shown = constraints.map(({ constraintId, status, errors }) => ({
    constraintId,
    status,
    ...(errors && { errors: errors.map((error) => ({ ...error })) }),
  }))
  return { ...own, $constraints: shown, ...(busy !== undefined && { $bulkOperation: busy }) }
}

function templateNames(own: ResourceEntity): readonly string[] {
  const templates = own['templates']
  if (!Array.isArray(templates)) return []
  const names = templates.flatMap((entry: unknown) => (isPlainObject(entry) ? [entry['templateName']] : []))
  return names.filter((name): name is string => typeof name === 'string')
}
