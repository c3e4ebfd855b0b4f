/** The stored records of a template and its older versions, and their indexes. */
import type { Template } from '#core'
import type { Rights } from '#kernel'
import type { CollectionSpec } from '#storage'
import { plugKeys, searched, tagKeys } from '../tasks/task-record.ts'

/** A template as stored, with its name as the id. Times are epoch ms. */
export interface TemplateRecord {
  readonly document: Template
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime: number
  readonly protected?: boolean
  readonly discoveryTemplate?: boolean
  /** `sensor:name:version` of each plug, if the version is written in the template */
  readonly plugs: readonly string[]
  /** version of `document`; absent in records from before templates had versions: the first */
  readonly version?: VersionMark
  /** highest number given so far, if a draft has it */
  readonly highest?: number
}

export interface VersionMark {
  /** counts from 1, and rises when the graph, the variables or the defaults change */
  readonly number: number
  readonly user: string
  /** rights of the user at that time; absent: all rights, as for versions that are older than scopes */
  readonly rights?: Rights
  /** epoch ms */
  readonly createTime: number
  /** why the version was made, in its author's words */
  readonly note?: string
  /** true: not published yet; runs only in rehearsals and roll-outs */
  readonly draft?: boolean
}

export const TEMPLATES: CollectionSpec<TemplateRecord> = {
  name: 'templates',
  version: 1,
  audited: true,
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

/** A replaced version. Its id combines a hash of the template's name with the version number. */
export interface OldVersionRecord {
  readonly document: Template
  readonly version: VersionMark
}

export const OLD_VERSIONS: CollectionSpec<OldVersionRecord> = {
  name: 'template_versions',
  version: 1,
  fields: {
    template: { type: 'text', of: ({ document }) => document.name },
    number: { type: 'number', of: ({ version }) => version.number },
  },
  together: [['template', 'number']],
}
