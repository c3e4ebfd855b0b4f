/**
 * Defines the shapes of rules, templates and task settings as JSON Schema, with `x-check` and `x-issue` for the
 * checker.
 */
import { Type } from 'typebox'
import { DURATION_PATTERN } from '#kernel'
import { DOWNTIME_POLICIES } from '../plug/downtime.ts'

const Position = Type.Array(Type.Number(), { minItems: 2, maxItems: 2, description: '[x, y]' })
const CHECKED = { 'x-check': true } as const
const MAX_DURATION = { maxLength: 100, description: 'duration such as PT50S' }
/** Requires a digit other than 0, since a duration must not be zero. */
const POSITIVE_DURATION = `(?=.*[1-9])${DURATION_PATTERN}`
const Duration = Type.String({ pattern: POSITIVE_DURATION, ...MAX_DURATION })
const Properties = Type.Record(Type.String(), Type.Unknown(), { description: 'properties of the plug by name' })
const Label = Type.String({ minLength: 1, 'x-issue': 'LABEL', ...CHECKED })
const LabelOfNode = Type.String({ minLength: 1, description: 'label of a node', 'x-issue': 'LABEL', ...CHECKED })
const State = Type.String(CHECKED)
const States = Type.Optional(Type.Array(State))

const RetryConfigSchema = Type.Object(
  {
    maxRetries: Type.Integer({ minimum: 0 }),
    minBackoff: Type.Optional(Duration),
    maxBackoff: Type.Optional(Duration),
    errorState: Type.Optional(Type.String({ minLength: 1, ...CHECKED })),
  },
  { title: 'retryConfig' },
)

const plugNode = {
  label: Label,
  name: Type.String({ minLength: 1, description: 'plug name', ...CHECKED }),
  version: Type.Optional(Type.String({ minLength: 1, description: 'exact version, or latest', ...CHECKED })),
  position: Type.Optional(Position),
  properties: Type.Optional(Properties),
  resource: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'an id, $, $taskId, $<variable> or META.$.<key>',
      'x-issue': 'RESOURCE',
      ...CHECKED,
    }),
  ),
  timeout: Type.Optional(Duration),
  retryConfig: Type.Optional(RetryConfigSchema),
  loopDef: Type.Optional(
    Type.String({ description: 'JSON array of objects; the node runs once per object', ...CHECKED }),
  ),
  pauseExecution: Type.Optional(Type.Boolean()),
  pauseExecutionTimeout: Type.Optional(Duration),
  unordered: Type.Optional(Type.Boolean()),
  description: Type.Optional(Type.String()),
  iconURL: Type.Optional(Type.String()),
}

const Id = Type.Optional(Type.String({ minLength: 1, maxLength: 1000 }))

/** Maximum number of members that a rule may list. */
const MAX_LISTED_MEMBERS = 10_000

const GroupSchema = Type.Object(
  {
    type: Id,
    parent: Id,
    tag: Id,
    query: Id,
    resources: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: MAX_LISTED_MEMBERS, description: 'ids' }),
    ),
  },
  { title: 'group', ...CHECKED },
)

const WindowSchema = Type.Object(
  {
    sliding: Type.Optional(Duration),
    tumbling: Type.Optional(Duration),
    session: Type.Optional(Duration),
    calendar: Type.Optional(Type.Enum(['hour', 'day', 'week', 'month'])),
    zone: Type.Optional(Type.String({ minLength: 1, description: 'IANA zone or offset', ...CHECKED })),
    lateness: Type.Optional(Duration),
  },
  { title: 'window', ...CHECKED },
)

export const SensorSchema = Type.Object(
  {
    ...plugNode,
    sequence: Type.Optional(Type.Integer({ minimum: 0, description: 'groups run in ascending order' })),
    dataTrigger: Type.Optional(Type.Boolean()),
    tickTrigger: Type.Optional(Type.Boolean()),
    evictionTime: Type.Optional(Type.Number({ minimum: 0, description: 'ms' })),
    keepRawData: Type.Optional(Type.Boolean()),
    downtime: Type.Optional(Type.Enum([...DOWNTIME_POLICIES])),
    pollingPeriod: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'ms' })),
    pollingFixedRate: Type.Optional(Type.Boolean()),
    schedule: Type.Optional(Type.String({ minLength: 1, description: 'cron or rrule', ...CHECKED })),
    timeoutState: Type.Optional(Type.String({ minLength: 1, ...CHECKED })),
    group: Type.Optional(GroupSchema),
    window: Type.Optional(WindowSchema),
    hold: Type.Optional(Type.Record(Type.String(), Duration, { description: 'duration by name of a value' })),
    default: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'value by name', ...CHECKED })),
  },
  { title: 'sensor' },
)

export const ActuatorSchema = Type.Object(plugNode, { title: 'actuator' })

export const RelationSchema = Type.Object(
  {
    label: Label,
    type: Type.Enum(['AND', 'OR', 'GENERAL', 'NAND', 'COUNT', 'SHARE']),
    parentLabels: Type.Array(Type.String(CHECKED), { minItems: 1 }),
    combinations: Type.Array(Type.Array(State, { description: 'a state for each parent', ...CHECKED }), {
      minItems: 1,
      'x-issue': 'GATE',
      ...CHECKED,
    }),
    atLeast: Type.Optional(Type.Number({ minimum: 0, ...CHECKED })),
    atMost: Type.Optional(Type.Number({ minimum: 0, ...CHECKED })),
    within: Type.Optional(Duration),
    fresh: Type.Optional(Duration),
    position: Type.Optional(Position),
  },
  { title: 'relation', ...CHECKED },
)

export const TriggerSchema = Type.Object(
  {
    sourceLabel: LabelOfNode,
    destinationLabel: LabelOfNode,
    invocationPolicy: Type.Optional(Type.Number({ minimum: 0, description: 's' })),
    statesTrigger: States,
    stateChangeTrigger: Type.Optional(
      Type.Object({ stateFrom: State, stateTo: State }, { title: 'stateChangeTrigger' }),
    ),
    begins: States,
    ends: States,
    each: Type.Optional(Type.Boolean(CHECKED)),
    closes: Type.Optional(Type.Boolean(CHECKED)),
  },
  { title: 'trigger' },
)

const NoteSchema = Type.Object({ position: Type.Optional(Position), text: Type.String() }, { title: 'note' })

const graph = {
  sensors: Type.Optional(Type.Array(SensorSchema)),
  actuators: Type.Optional(Type.Array(ActuatorSchema)),
  relations: Type.Optional(Type.Array(RelationSchema)),
  triggers: Type.Optional(Type.Array(TriggerSchema)),
  notes: Type.Optional(Type.Array(NoteSchema)),
}

const PlugOverrideSchema = Type.Object(
  {
    name: Type.Optional(Type.String()),
    version: Type.Optional(Type.String()),
    label: Type.Optional(Type.String()),
    requiredProperties: Type.Optional(Type.Union([Type.Array(Properties), Properties])),
  },
  { title: 'plug override' },
)

export const NodeOverrideSchema = Type.Object(
  {
    name: Type.String({ minLength: 1, description: 'label of a node', 'x-issue': 'OVERRIDE', ...CHECKED }),
    properties: Type.Object(
      {
        cost: Type.Optional(Type.Integer({ minimum: 0 })),
        resource: Type.Optional(Type.String()),
        evictionTime: Type.Optional(Type.Number({ minimum: 0, description: 'ms' })),
        keepRawData: Type.Optional(Type.Boolean()),
        downtime: Type.Optional(Type.Enum([...DOWNTIME_POLICIES])),
        pollingPeriod: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: 'ms' })),
        pollingFixedRate: Type.Optional(Type.Boolean()),
        tickTrigger: Type.Optional(Type.Boolean()),
        dataTrigger: Type.Optional(Type.Boolean()),
        sensor: Type.Optional(PlugOverrideSchema),
        actions: Type.Optional(Type.Array(PlugOverrideSchema)),
      },
      { title: 'override properties' },
    ),
  },
  { title: 'node override' },
)

/** Maximum time between two ticks: one year, in ms. */
export const MAX_FREQUENCY = 31_536_000_000

/** Maximum time for which a value of a message stays available: one year, in ms. */
const MAX_STREAM_VALIDITY = 31_536_000_000

const settings = {
  name: Type.Optional(Type.String()),
  start: Type.Optional(Type.Boolean()),
  type: Type.Optional(Type.Enum(['onetime', 'scheduled', 'reactive', 'periodic'])),
  resource: Type.Optional(Type.String(CHECKED)),
  variables: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  resetObservations: Type.Optional(Type.Boolean()),
  resetScope: Type.Optional(Type.Enum(['invocation', 'task'])),
  parallel: Type.Optional(Type.Boolean()),
  gatesNeedFullObservation: Type.Optional(Type.Boolean()),
  frequency: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_FREQUENCY, description: 'ms' })),
  pollingInterval: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_FREQUENCY / 1000, description: 's' })),
  pollingFixedRate: Type.Optional(Type.Boolean()),
  cron: Type.Optional(Type.String({ minLength: 1, ...CHECKED })),
  rrule: Type.Optional(Type.String({ minLength: 1, ...CHECKED })),
  timeZone: Type.Optional(Type.String({ minLength: 1, description: 'IANA zone or offset', ...CHECKED })),
  misfire: Type.Optional(Type.Enum(['skip', 'once', 'all'])),
  maxLateness: Type.Optional(Type.String({ pattern: DURATION_PATTERN, ...MAX_DURATION, 'x-issue': 'TASK' })),
  maxMissed: Type.Optional(Type.Integer({ minimum: 0, maximum: 1000 })),
  overlap: Type.Optional(Type.Enum(['skip', 'queue', 'cancelPrevious'])),
  whenBusy: Type.Optional(Type.Enum(['queue', 'latest', 'skip'])),
  late: Type.Optional(
    Type.Union([
      Type.Enum(['drop', 'take']),
      Type.Object(
        {
          reorder: Type.String({
            ...MAX_DURATION,
            pattern: POSITIVE_DURATION,
            description: 'duration such as 30s or PT30S',
            'x-issue': 'TASK',
          }),
          then: Type.Optional(Type.Enum(['drop', 'take'])),
        },
        { title: 'late' },
      ),
    ]),
  ),
  time: Type.Optional(Type.Enum(['event', 'arrival'])),
  duplicates: Type.Optional(Type.Enum(['drop', 'take'])),
  downtime: Type.Optional(Type.Enum([...DOWNTIME_POLICIES])),
  streamValidity: Type.Optional(Type.Number({ minimum: 0, maximum: MAX_STREAM_VALIDITY, description: 'ms' })),
  dst: Type.Optional(
    Type.Object(
      {
        gap: Type.Optional(Type.Enum(['shift', 'skip'])),
        overlap: Type.Optional(Type.Enum(['first', 'second', 'both'])),
      },
      { title: 'dst' },
    ),
  ),
  tags: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  nodes: Type.Optional(Type.Array(NodeOverrideSchema)),
}

export const TaskSettingsSchema = Type.Object(settings, { title: 'task settings' })

export const TaskFromTemplateSchema = Type.Object(
  {
    template: Type.String({ minLength: 1, ...CHECKED }),
    templateVersion: Type.Optional(
      Type.Integer({ minimum: 1, description: 'default: the newest version', ...CHECKED }),
    ),
    ...settings,
  },
  { title: 'task from template' },
)

const VariableDeclarationSchema = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    displayName: Type.Optional(Type.String()),
    type: Type.Enum(['string', 'boolean', 'integer', 'double', 'long', 'float', 'object']),
    format: Type.Optional(
      Type.Object({ type: Type.String(), values: Type.Optional(Type.Array(Type.Unknown())) }, { title: 'format' }),
    ),
    mandatory: Type.Optional(Type.Boolean()),
    description: Type.Optional(Type.String()),
    defaultValue: Type.Optional(Type.Unknown()),
    overrideByStream: Type.Optional(Type.Boolean()),
    overrideByData: Type.Optional(Type.Boolean()),
  },
  { title: 'variable' },
)

export const RuleSchema = Type.Object(
  {
    ...graph,
    sensors: Type.Array(SensorSchema, { minItems: 1 }),
    variables: Type.Optional(
      Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Array(VariableDeclarationSchema)], {
        description: 'values by name, as in the settings, or declarations, as in a template',
      }),
    ),
    task: Type.Optional(TaskSettingsSchema),
  },
  { title: 'rule' },
)

export const TemplateSchema = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.Optional(Type.String()),
    iconURL: Type.Optional(Type.String()),
    tags: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    variables: Type.Optional(Type.Array(VariableDeclarationSchema)),
    taskDefaults: Type.Optional(TaskSettingsSchema),
    ...graph,
  },
  { title: 'template' },
)
