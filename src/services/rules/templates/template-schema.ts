/** Bodies and queries of templates. */
import { Type, type Static } from 'typebox'
import { type BnGraph, BnGraphSchema, TemplateSchema } from '#core/spi'
import type { Template } from '#core'
import { UpdatePluginsSchema, type PluginUpdate } from '../batches/batch-schema.ts'
import { AnyObject, EpochMs, pagedSchema, WireIssueSchema, type GraphFormat, type WireIssue } from '../shared-schema.ts'
import type { TagFilter } from '../tasks/task-schema.ts'
import { REVISION } from '#services/shared'

const extras = {
  protected: Type.Optional(Type.Boolean({ description: 'stored and shown' })),
}

const BnTemplateSchema = Type.Object(
  { ...TemplateSchema.properties, ...BnGraphSchema.properties, name: Type.String({ minLength: 1 }), ...extras },
  { title: 'template in bn form' },
)

/** The body of POST and PUT. */
export const TemplateSpecificationSchema = Type.Union([
  Type.Object({ ...TemplateSchema.properties, ...extras }, { title: 'template' }),
  BnTemplateSchema,
])

export type BnTemplate = Omit<Template, 'sensors' | 'actuators' | 'relations' | 'triggers' | 'notes'> & BnGraph
export type TemplateSpecification = (Template | BnTemplate) & { protected?: boolean }

/** A template as it is given back; the graph only where it is asked for. */
export const TemplateEntitySchema = Type.Object(
  {
    name: Type.String(),
    version: Type.Integer({ minimum: 1, description: 'raised by each change of the rule, variables or defaults' }),
    revision: Type.Optional(Type.Integer({ minimum: 1, description: REVISION })),
    description: Type.Optional(Type.String()),
    iconURL: Type.Optional(Type.String()),
    tags: AnyObject,
    variables: Type.Optional(Type.Array(AnyObject)),
    taskDefaults: Type.Optional(AnyObject),
    protected: Type.Optional(Type.Boolean()),
    discoveryTemplate: Type.Boolean(),
    user: Type.String(),
    createTime: EpochMs,
    lastUpdateTime: EpochMs,
    warnings: Type.Optional(Type.Array(WireIssueSchema, { description: 'answer to a change' })),
  },
  { title: 'Template', additionalProperties: true },
)

export interface TemplateEntity {
  readonly name: string
  readonly version: number
  /** raised by every write: the ETag; absent on an older version */
  readonly revision?: number
  readonly description?: string
  readonly iconURL?: string
  readonly tags: Readonly<Record<string, unknown>>
  readonly variables?: readonly unknown[]
  readonly taskDefaults?: Readonly<Record<string, unknown>>
  readonly protected?: boolean
  readonly discoveryTemplate: boolean
  readonly user: string
  readonly createTime: number
  readonly lastUpdateTime: number
  readonly warnings?: readonly WireIssue[]
  /** the graph: `sensors`, `relations` ... or `nodes`, `posterior`, `metadata` */
  readonly [part: string]: unknown
}

/** One version of a template, as they are listed. */
export const TemplateVersionSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    user: Type.String({ description: 'who made it' }),
    createTime: EpochMs,
    tasks: Type.Integer({ minimum: 0, description: 'how many tasks are made of it' }),
  },
  { title: 'TemplateVersion' },
)
export type TemplateVersion = Static<typeof TemplateVersionSchema>
export const PagedTemplateVersionsSchema = pagedSchema(TemplateVersionSchema, 'PagedTemplateVersions')

export const CreatedTemplateSchema = Type.Object(
  {
    statusCode: Type.Literal(201),
    uri: Type.String(),
    entity: TemplateEntitySchema,
    warnings: TemplateEntitySchema.properties.warnings,
  },
  { title: 'CreatedTemplate' },
)
export interface CreatedTemplate {
  readonly statusCode: 201
  readonly uri: string
  readonly entity: TemplateEntity
  readonly warnings?: readonly WireIssue[]
}

export interface TemplateFilter {
  readonly filter?: string
  readonly name?: string
  readonly ids?: readonly string[]
  readonly plugin?: string
  /** as those of `TaskFilter` */
  readonly tags?: readonly TagFilter[]
  readonly tagKeys?: readonly string[]
}

export interface TemplateQuery {
  readonly where: TemplateFilter
  readonly hits: number
  readonly startIndex: number
  readonly format: GraphFormat
  readonly includeGraph: boolean
}

/** The body of PATCH /api/templates. */
export const TemplateUpgradeSchema = Type.Object(
  {
    operation: Type.Enum(['updatePlugins']),
    updates: UpdatePluginsSchema.properties.updates,
    reloadTasks: Type.Optional(Type.Boolean({ description: 'tasks of the changed templates are reloaded too' })),
  },
  { title: 'template upgrade' },
)
export interface TemplateUpgrade {
  readonly operation: 'updatePlugins'
  readonly updates: readonly PluginUpdate[]
  readonly reloadTasks?: boolean
}

export const UpgradedTemplatesSchema = Type.Object(
  {
    successful: Type.Array(Type.String()),
    failed: Type.Optional(Type.Array(Type.Object({ templateName: Type.String(), error: Type.String() }))),
  },
  { title: 'UpgradedTemplates' },
)
export interface UpgradedTemplates {
  readonly successful: readonly string[]
  readonly failed?: readonly { readonly templateName: string; readonly error: string }[]
}
