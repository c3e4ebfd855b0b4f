/** Schemas of resources, types and bulk operations, with limits. */
import { Type } from 'typebox'
import { AppError, isPlainObject, type Json, MAX_ID_BYTES, ownValue } from '#kernel'
import { checked, closed, type Decoded, nullable, open, refined } from '#services/shared/contract'
import type { Attributes } from './attributes.ts'
import { objectSchema, typeSchema } from './constraints/json-schema.ts'
import type { Attribute } from './constraints/constraint-schema.ts'
import { COMMAND, RESERVED, TASK_TYPES, TEMPLATE, TEMPLATES } from './constraints/reserved.ts'

const MAX_LEVELS = 90
/** Maximum JSON characters of a resource or type. History and events contain it several times. */
const LARGEST = 262_144
const MAX_ITEMS = 10_000
export const CASCADES = ['alarms', 'measurements', 'tasks'] as const
export type Cascade = (typeof CASCADES)[number]

const Text = Type.String()
const MAX_APPLIED = 100
/** Ids of constraints, or entries as they are shown. */
const APPLIED = Type.Array(
  refined(Type.Unknown({ description: 'the id of a constraint, or an entry with it' }), (entry) =>
    isText(appliedId(entry)) ? [] : [{ message: 'is not the id of a constraint' }],
  ),
  { maxItems: MAX_APPLIED },
)
const appliedIds = Type.Decode(nullable(APPLIED), (applied) => [...new Set((applied ?? []).map(appliedId))])

function appliedId(entry: unknown): unknown {
  return ownValue(entry, 'constraintId') ?? entry
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Accepts any attributes. Reserved attributes are checked later, since their checks depend on the stored resource. */
export const ResourceAttributes = checked(Type.Unsafe<Attributes>(open({}, MAX_LEVELS)), {
  subject: 'the resource',
  type: 'ATTRIBUTE',
})
export const TypeAttributes = checked(
  Type.Unsafe<Attributes & { readonly $constraints?: readonly string[] }>(
    open({ id: Type.Optional(nullable(Text)), $constraints: Type.Optional(appliedIds) }, MAX_LEVELS),
  ),
  { subject: 'the resource type', type: 'ATTRIBUTE' },
)

export function checkSize(attributes: object, subject: string): void {
  const { length } = JSON.stringify(attributes)
  if (length <= LARGEST) return
  throw new AppError('TOO_LARGE', `${subject} has ${length} characters as JSON; at most ${LARGEST} are accepted`)
}

const ID = { type: 'string', minLength: 1, maxLength: MAX_ID_BYTES, description: `at most ${MAX_ID_BYTES} bytes` }
const OF_PATH = { description: 'the id in the path, or absent' }

/** Makes the schema of a body; null counts as absent. */
function bodySchema(title: string, own: object, attributes: readonly Attribute[], required: readonly string[] = []) {
  const properties = attributes.map(({ name, type }) => {
    const schema = SPECIAL.get(name) ?? typeSchema(type)
    return [name, { anyOf: [schema, { type: 'null' }] }] as const
  })
  return Type.Unsafe<Attributes>({
    title,
    type: 'object',
    properties: { ...Object.fromEntries(properties), ...own },
    ...(required.length > 0 && { required }),
    additionalProperties: true,
  })
}

const template = objectSchema(TEMPLATE)
/** Entries with special rules. A diagnostic template requires no tasks, whatever its type. */
const SPECIAL: ReadonlyMap<string, object> = new Map([
  ['commands', { type: 'array', items: { type: 'object', additionalProperties: objectSchema(COMMAND) } }],
  [
    'templates',
    {
      type: 'array',
      items: {
        anyOf: [
          { ...template, properties: { ...template.properties, type: { enum: TASK_TYPES } } },
          {
            ...template,
            properties: { ...template.properties, diagnosticTemplate: { const: true } },
            required: ['templateName', 'diagnosticTemplate'],
          },
        ],
      },
    },
  ],
])
const OF_TYPES = [...RESERVED, TEMPLATES]
const $constraints = nullable(APPLIED)
const { read: readResource } = ResourceAttributes
const { read: readType } = TypeAttributes
export const NewResource = { schema: bodySchema('NewResource', { id: ID }, RESERVED, ['id']), read: readResource }
export const ResourceBody = { schema: bodySchema('Resource', { id: OF_PATH }, RESERVED), read: readResource }
export const NewType = {
  schema: bodySchema('NewResourceType', { id: nullable(Type.Unsafe(ID)), $constraints }, OF_TYPES),
  read: readType,
}
export const TypeBody = { schema: bodySchema('ResourceType', { id: OF_PATH, $constraints }, OF_TYPES), read: readType }

/** The parameter that requests cascading deletions: names, or comma-separated names. */
export const CASCADE = Type.Optional(
  Type.Decode(
    refined(Type.Array(Type.String({ description: CASCADES.join(', ') })), (value) =>
      cascadesIn(value)
        .filter((name) => !CASCADES.some((known) => known === name))
        .map((name) => ({ message: `"${name}" is unknown`, suggestion: `write one of ${CASCADES.join(', ')}` })),
    ),
    (value) => cascadesIn(value) as readonly Cascade[],
  ),
)

function cascadesIn(value: unknown): readonly string[] {
  const lists: readonly unknown[] = Array.isArray(value) ? value : []
  return lists.flatMap((list) => String(list).split(',')).filter((name) => name !== '')
}

export const EntitySchema = Type.Object({ id: Text }, { additionalProperties: true, title: 'Attributes' })
export const CreatedSchema = Type.Object(
  { statusCode: Type.Integer(), uri: Text, entity: EntitySchema },
  { title: 'Created' },
)
const PAGE = { skip: Type.Integer(), limit: Type.Integer(), total: Type.Integer() }
export const PageSchema = Type.Object({ values: Type.Array(EntitySchema), ...PAGE }, { title: 'Page' })
export const ConstraintsSchema = Type.Array(EntitySchema, { title: 'Constraints' })
const ChangeSchema = Type.Object(
  {
    time: Type.String({ description: 'ISO 8601' }),
    userId: Text,
    change: Type.Enum(['created', 'updated', 'deleted']),
  },
  { additionalProperties: true, title: 'Change' },
)
export const ChangesSchema = Type.Array(ChangeSchema, { title: 'Changes' })
const AttributeOriginSchema = Type.Object(
  {
    attribute: Text,
    value: Type.Unsafe<Json>(Type.Unknown()),
    from: Type.Enum(['resource', 'type']),
    id: Type.String({ description: 'of the resource or the type' }),
    hidden: Type.Optional(
      Type.Unsafe<Json>(Type.Unknown({ description: 'the value of the type, where the resource overrides it' })),
    ),
  },
  { title: 'AttributeOrigin' },
)
export interface AttributeOrigin extends Decoded<typeof AttributeOriginSchema> {}
export const AttributeOriginsSchema = Type.Array(AttributeOriginSchema, { title: 'AttributeOrigins' })
const CommandExecutionSchema = Type.Object(
  { name: Text, executionTime: Type.String({ description: 'ISO 8601' }) },
  { additionalProperties: true, title: 'CommandExecution' },
)
export const CommandPageSchema = Type.Object(
  { values: Type.Array(CommandExecutionSchema), ...PAGE },
  { title: 'CommandPage' },
)
export const ErrorSchema = Type.Object(
  {
    statusCode: Type.Integer(),
    error: Text,
    code: Type.Optional(Text),
    details: Type.Optional(Type.Array(Type.Object({}, { additionalProperties: true }))),
  },
  { title: 'Error' },
)

const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  resource: ['delete', 'patchOrInsert'],
  resourcetype: ['delete'],
}
const Id = Type.String({ minLength: 1 })
const Many = { minItems: 1, maxItems: MAX_ITEMS }
const OperationSchema = closed({
  entity: Type.Enum(['resource', 'resourcetype']),
  action: Type.Enum(['delete', 'patchOrInsert']),
  query: closed({
    ids: Type.Optional(Type.Array(Id, Many)),
    resources: Type.Optional(Type.Array(Type.Object({ id: Id }, { additionalProperties: true }), Many)),
  }),
  actionParameters: Type.Optional(
    closed({
      cascade: Type.Optional(Type.Array(Type.Enum(CASCADES))),
      updateProtected: Type.Optional(Type.Boolean()),
    }),
  ),
})

/** A bulk operation. Unknown fields are rejected, since ignoring a filter would affect more than intended. */
export const Operation = checked(
  refined(OperationSchema, (body) => {
    const [entity, action, query] = ['entity', 'action', 'query'].map((name) => ownValue(body, name))
    const actions = ACTIONS[String(entity)] ?? []
    if (actions.length === 0 || !isPlainObject(query)) return []
    if (!actions.includes(String(action))) {
      const message = `invalid action for ${String(entity)} entity: ${String(action)}`
      return [{ at: '/action', message, suggestion: `write ${actions.join(' or ')}` }]
    }
    const [list, other, parameter] =
      action === 'delete' ? ['ids', 'resources', 'updateProtected'] : ['resources', 'ids', 'cascade']
    const { [list]: items, [other]: others } = query
    const parameters = ownValue(body, 'actionParameters')
    const taken = entity === 'resource' ? [parameter] : ['cascade', 'updateProtected']
    const ids = Array.isArray(items) ? items.map((item) => ownValue(item, 'id')) : []
    return [
      ...(items === undefined ? [{ at: `/query/${list}`, message: 'is required' }] : []),
      ...(others === undefined
        ? []
        : [{ at: `/query/${other}`, message: `is not supported`, suggestion: `write ${list}` }]),
      ...(list === 'resources' && new Set(ids).size < ids.length
        ? [{ at: '/query/resources', message: 'an id occurs twice', suggestion: 'write each resource once' }]
        : []),
      ...taken
        .filter((name) => ownValue(parameters, name) !== undefined)
        .map((name) => ({ at: `/actionParameters/${name}`, message: 'is not supported', suggestion: 'omit it' })),
    ]
  }),
  { subject: 'the batch', type: 'BATCH' },
)
export type Operation = Decoded<typeof OperationSchema>
