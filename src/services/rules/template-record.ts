/** A template as it is stored, and by what it is found. */
import type { Template } from '../../core/rule/rule.ts'
import type { CollectionSpec } from '../../storage/contract.ts'
import { plugKeys, searched, tagKeys } from './task-record.ts'

/** Its id is its name. Times are epoch ms. */
export interface TemplateRecord {
  readonly document: Template
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime: number
  readonly protected?: boolean
  readonly discoveryTemplate?: boolean
  /** `sensor:name:version` of each plug, as far as written */
  readonly plugs: readonly string[]
}

export const TEMPLATES: CollectionSpec<TemplateRecord> = {
  name: 'templates',
  version: 1,
  fields: {
    name: { type: 'text', of: (template) => template.document.name },
    plug: { type: 'texts', of: (template) => plugKeys(template.plugs) },
    tag: { type: 'texts', of: (template) => tagKeys(template.document.tags) },
    discovery: { type: 'text', of: (template) => (template.discoveryTemplate === true ? 'true' : undefined) },
    createTime: { type: 'number', of: (template) => template.createTime },
    words: {
      type: 'text',
      of: ({ document, user }) => {
        const tags = Object.entries(document.tags ?? {})
          .flat()
          .map(String)
        return searched([document.name, document.description ?? '', user, ...tags])
      },
    },
  },
}
