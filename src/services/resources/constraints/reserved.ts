/** Constraints of the reserved attributes, which apply to all types. */
import { MAX_ID_BYTES } from '#kernel'
import type { Attribute, AttributeType } from './constraint-schema.ts'

const LONGEST_TEXT = 500
const MAX_TAGS = 1_000
const TEXT: AttributeType = { type: 'string', maxLength: LONGEST_TEXT }
/** every service that stores the id has this limit */
const ID: AttributeType = { type: 'string', maxLength: MAX_ID_BYTES }
const VALUE_TYPES = ['integer', 'double', 'boolean', 'string', 'enum']
export const TASK_TYPES = ['onetime', 'scheduled', 'reactive', 'periodic']
const METRIC_TYPES = ['count', 'gauge', 'counter', 'timestamp', 'rate']

const optional = (name: string, type: AttributeType): Attribute => ({ name, required: false, type })
const required = (name: string, type: AttributeType): Attribute => ({ name, required: true, type })
const listOf = (...attributes: readonly Attribute[]): AttributeType => ({
  type: 'array',
  elementType: { type: 'object', attributes },
})

const METRICS = listOf(
  required('name', { type: 'string' }),
  optional('valueType', { type: 'enum', enumType: 'string', items: VALUE_TYPES }),
  optional('valueChoices', { type: 'array', elementType: { type: 'string' } }),
  optional('metricType', { type: 'enum', enumType: 'string', items: METRIC_TYPES }),
  optional('unit', { type: 'string' }),
  optional('maximum', { type: 'numeric' }),
  optional('minimum', { type: 'numeric' }),
  optional('precision', { type: 'numeric' }),
)
const PLUG = [
  required('name', { type: 'string', minLength: 1 }),
  optional('version', { type: 'string' }),
  optional('properties', { type: 'object' }),
]

export const RESERVED: readonly Attribute[] = [
  required('id', { type: 'string', minLength: 1, maxLength: 512 }),
  optional('resourceTypeId', ID),
  optional('parentId', ID),
  optional('name', TEXT),
  optional('alias', TEXT),
  optional('owner', TEXT),
  optional('provider', TEXT),
  optional('providerId', TEXT),
  optional('customer', TEXT),
  optional('tags', { type: 'array', elementType: TEXT, maxLength: MAX_TAGS }),
  optional('location', {
    type: 'object',
    attributes: [
      required('lat', { type: 'numeric', minimum: -90, maximum: 90 }),
      required('lon', { type: 'numeric', minimum: -180, maximum: 180 }),
    ],
  }),
  optional('firmware', TEXT),
  optional('lastMessageTimestamp', { type: 'numeric' }),
  optional('metrics', METRICS),
  optional('commands', { type: 'array', elementType: { type: 'object' } }),
  optional(
    'sensors',
    listOf(required('name', { type: 'string' }), required('sensor', { type: 'object', attributes: PLUG })),
  ),
]

/** Values in an entry of `commands`, under the name of the command. */
export const COMMAND: readonly Attribute[] = [required('actuator', { type: 'object', attributes: PLUG })]

export const TEMPLATE: readonly Attribute[] = [
  required('templateName', { type: 'string', minLength: 1 }),
  optional('type', { type: 'string' }),
  optional('frequency', { type: 'numeric', minimum: 1 }),
  optional('cron', { type: 'string', minLength: 1 }),
  optional('diagnosticTemplate', { type: 'boolean' }),
]
export const TEMPLATES = optional('templates', listOf(...TEMPLATE))
