/** A resource constraint as it is stored. */
import type { CollectionSpec } from '#storage'
import type { Attribute } from './constraints/attribute.ts'
import { wordsOf } from './words.ts'

export interface ConstraintRecord {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly attributes: readonly Attribute[]
}

export const CONSTRAINTS: CollectionSpec<ConstraintRecord> = {
  name: 'resource_constraints',
  version: 1,
  fields: {
    tags: { type: 'texts', of: ({ tags = [] }) => tags },
    words: {
      type: 'text',
      of: ({ name, description = '', tags = [] }) => wordsOf([name, ...tags, description]),
    },
  },
}
