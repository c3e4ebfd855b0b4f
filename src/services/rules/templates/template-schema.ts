/** Schemas of the bodies and queries for templates. */
import { Type } from 'typebox'
import { type BnGraph, BnGraphSchema, TemplateSchema, type VariableDeclaration } from '#core/spi'
import type { Template } from '#core'
import { CHECKED, checked, closed, type Decoded, REVISION } from '#services/shared/contract'
import { UpdatePluginsSchema } from '../batches/batch-schema.ts'
import {
  AnyObject,
  EpochMs,
  type GraphFormat,
  ISSUE_TYPES,
  pagedSchema,
  Text,
  WireIssueSchema,
} from '../shared-schema.ts'
import { CHANGE_REHEARSAL } from '../rehearsals/rehearsal-schema.ts'
import type { TaskFilter } from '../tasks/task-schema.ts'

/** characters, each at most three bytes long */
export const MAX_TEMPLATE_NAME = 170
const name = Type.String({ minLength: 1, maxLength: MAX_TEMPLATE_NAME, description: 'also its id', ...CHECKED })
const extras = {
  protected: Type.Optional(Type.Boolean({ description: 'stored and shown' })),
}

const BnTemplateSchema = Type.Object(
  { ...TemplateSchema.properties, ...BnGraphSchema.properties, name, ...extras },
  { title: 'template in bn form' },
)

export const TemplateSpecificationSchema = Type.Union([
  Type.Object({ ...TemplateSchema.properties, name, ...extras }, { title: 'template' }),
  BnTemplateSchema,
])

type BnTemplate = Omit<Template, 'sensors' | 'actuators' | 'relations' | 'triggers' | 'notes'> & BnGraph
export type TemplateSpecification = (Template | BnTemplate) & { protected?: boolean }

/** A template in responses; the graph is included on request. */
export const TemplateEntitySchema = Type.Object(
  {
    name: Text,
    version: Type.Integer({ minimum: 1, description: 'raised by each change of the rule, variables or defaults' }),
    revision: Type.Optional(Type.Integer({ minimum: 1, description: REVISION })),
    description: Type.Optional(Text),
    iconURL: Type.Optional(Text),
    tags: AnyObject,
    variables: Type.Optional(Type.Unsafe<readonly VariableDeclaration[]>(Type.Array(AnyObject))),
    taskDefaults: Type.Optional(AnyObject),
    protected: Type.Optional(Type.Boolean()),
    draft: Type.Optional(Type.Boolean({ description: 'true: this version is not published' })),
    note: Type.Optional(Text),
    discoveryTemplate: Type.Boolean(),
    user: Text,
    createTime: EpochMs,
    lastUpdateTime: EpochMs,
    warnings: Type.Optional(Type.Array(WireIssueSchema, { description: 'response to a change' })),
    ...CHANGE_REHEARSAL,
  },
  { title: 'Template', additionalProperties: true },
)

/** `revision` is absent for an older version. */
export interface TemplateEntity extends Decoded<typeof TemplateEntitySchema> {
  readonly [part: string]: unknown
}

export const TemplateVersionSchema = Type.Object(
  {
    version: Type.Integer({ minimum: 1 }),
    user: Type.String({ description: 'author' }),
    createTime: EpochMs,
    note: Type.Optional(Type.String({ description: 'why it was made' })),
    draft: Type.Optional(Type.Boolean({ description: 'true: not published; runs only in rehearsals and roll-outs' })),
    tasks: Type.Integer({ minimum: 0, description: 'number of its tasks' }),
  },
  { title: 'TemplateVersion' },
)
export interface TemplateVersion extends Decoded<typeof TemplateVersionSchema> {}
export const PagedTemplateVersionsSchema = pagedSchema(TemplateVersionSchema, 'PagedTemplateVersions')

export const CreatedTemplateSchema = Type.Object(
  {
    statusCode: Type.Literal(201),
    uri: Text,
    entity: TemplateEntitySchema,
    warnings: TemplateEntitySchema.properties.warnings,
  },
  { title: 'CreatedTemplate' },
)
export interface CreatedTemplate extends Omit<Decoded<typeof CreatedTemplateSchema>, 'entity'> {
  readonly entity: TemplateEntity
}

export interface TemplateFilter extends Pick<TaskFilter, 'filter' | 'name' | 'ids' | 'plugin' | 'tags' | 'tagKeys'> {}

export interface TemplateQuery {
  readonly where: TemplateFilter
  readonly hits: number
  readonly startIndex: number
  readonly format: GraphFormat
  readonly includeGraph: boolean
}

const TemplateUpgradeSchema = closed(
  {
    operation: Type.Enum(['updatePlugins']),
    updates: UpdatePluginsSchema.properties.updates,
    reloadTasks: Type.Optional(Type.Boolean({ description: 'tasks of the changed templates are reloaded too' })),
  },
  { title: 'template upgrade' },
)
export const TemplateUpgrade = checked(TemplateUpgradeSchema, { subject: 'the upgrade', ...ISSUE_TYPES })
export interface TemplateUpgrade extends Decoded<typeof TemplateUpgradeSchema> {}

export const UpgradedTemplatesSchema = Type.Object(
  {
    successful: Type.Array(Text),
    failed: Type.Optional(Type.Array(Type.Object({ templateName: Text, error: Text }))),
  },
  { title: 'UpgradedTemplates' },
)
export interface UpgradedTemplates extends Decoded<typeof UpgradedTemplatesSchema> {}
