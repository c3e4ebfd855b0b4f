/** Schemas of requests and responses for roll-outs, with their limits. */
import { Type } from 'typebox'
import { CHECKED, checked, closed, type Decoded, duration, id, type Problem, refined } from '#services/shared/contract'
import { Differences } from '../rehearsals/rehearsal-schema.ts'
import { EpochMs, ISSUE_TYPES, pagedSchema, Text, Version } from '../shared-schema.ts'
import { ReloadPreviewSchema, type TaskPreview } from '../tasks/task-schema.ts'

/** Number of tasks of one roll-out. */
export const MAX_TASKS = 10_000
export const MAX_FAILED = 20
/** Number of differences in a response. */
export const MAX_DIFFERENCES = 200
const MAX_RESOURCES = 10_000

const ROLLOUT_MODES = ['shadow', 'canary', 'all'] as const
export type RolloutMode = (typeof ROLLOUT_MODES)[number]

const ROLLOUT_STATUS = [
  'starting',
  'running',
  'promoting',
  'promoted',
  'rollingBack',
  'rolledBack',
  'stopping',
  'stopped',
] as const
export type RolloutStatus = (typeof ROLLOUT_STATUS)[number]

const perDay = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }))
const StopSchema = refined(
  closed({
    divergence: perDay('firings of one version only'),
    errors: perDay('failed calls of the new version'),
    alarms: perDay('firings of the new version into nodes that raise alarms'),
  }),
  (stop) =>
    Object.keys(stop as object).length > 0
      ? []
      : [{ message: 'has no condition', suggestion: 'write "divergence", "errors" or "alarms"' }],
)

const RequestSchema = refined(
  closed(
    {
      version: Version,
      mode: Type.Enum(ROLLOUT_MODES, {
        description:
          'shadow: runs beside the live version without effects; canary: moves the tasks of a share of resources; all: moves all tasks',
      }),
      resources: Type.Optional(
        Type.Array(id, { minItems: 1, maxItems: MAX_RESOURCES, description: 'default: the resources of all tasks' }),
      ),
      percent: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 100,
          description: 'share of the resources, by a hash of the resource: a larger share includes a smaller one',
          ...CHECKED,
        }),
      ),
      tolerance: Type.Optional(duration('within which a firing counts as moved; default PT10M')),
      stop: Type.Optional(
        Type.Unsafe<Decoded<typeof StopSchema>>(
          Object.assign(StopSchema, { description: 'ends the roll-out when a count of the last 24 hours is higher' }),
        ),
      ),
      note: Type.Optional(Type.String({ maxLength: 2_000, description: 'why' })),
    },
    { title: 'RolloutRequest' },
  ),
  (body) => {
    const { mode, percent, resources, stop } = body as Readonly<Record<string, unknown>>
    const problems: Problem[] = []
    if (percent !== undefined && resources !== undefined) {
      problems.push({ at: '/percent', message: 'cannot be combined with resources', suggestion: 'keep one of them' })
    }
    if (mode === 'canary' && percent === undefined && resources === undefined) {
      const suggestion = 'write "percent": 10, a list of "resources", or the mode all'
      problems.push({ at: '/percent', message: 'is missing: a canary moves a share of the tasks', suggestion })
    }
    if (mode === 'all') {
      for (const [name, value] of Object.entries({ percent, resources, stop })) {
        if (value === undefined) continue
        problems.push({ at: `/${name}`, message: 'is not possible with the mode all', suggestion: 'use a canary' })
      }
    }
    return problems
  },
)
export const RolloutRequest = checked(RequestSchema, { subject: 'the roll-out', ...ISSUE_TYPES })
export interface RolloutRequest extends Decoded<typeof RequestSchema> {}
export interface StopCondition extends Decoded<typeof StopSchema> {}

const Count = Type.Integer({ minimum: 0 })

const HEAD = {
  id: Text,
  template: Text,
  version: Version,
  mode: Type.Enum(ROLLOUT_MODES),
  status: Type.Enum(ROLLOUT_STATUS, {
    description: 'starting, promoting, rollingBack and stopping continue by themselves, also after a restart',
  }),
  user: Text,
  createTime: EpochMs,
  finishedTime: Type.Optional(EpochMs),
  reason: Type.Optional(Type.String({ description: 'why it ended by itself' })),
  note: Type.Optional(Text),
  notice: Type.Optional(Type.String({ description: 'what should be known, such as that no task is affected' })),
  percent: Type.Optional(Type.Number()),
  resources: Type.Optional(Type.Array(Text)),
  tolerance: Type.Integer({ description: 'ms' }),
  stop: Type.Optional(Type.Unsafe<StopCondition>(StopSchema)),
  tasks: Type.Object({
    selected: Type.Integer({ minimum: 0, description: 'tasks with a shadow, or moved' }),
    moved: Type.Integer({ minimum: 0, description: 'tasks that run the version because of this roll-out' }),
    failed: Type.Array(Type.Object({ task: Text, error: Text }), {
      description: `at most ${MAX_FAILED} tasks that cannot run the version`,
    }),
  }),
}
export const RolloutSummarySchema = Type.Object(HEAD, { title: 'RolloutSummary' })
export interface RolloutSummary extends Decoded<typeof RolloutSummarySchema> {}
export const PagedRolloutsSchema = pagedSchema(RolloutSummarySchema, 'PagedRollouts')

const NodeSchema = Type.Object({
  node: Text,
  old: Count,
  new: Count,
  equal: Count,
  moved: Count,
  onlyOld: Count,
  onlyNew: Count,
})

export const RolloutSchema = Type.Object(
  {
    ...HEAD,
    comparison: Type.Object(
      {
        counts: Type.Object({ equal: Count, added: Count, removed: Count, moved: Count }),
        added: Differences,
        removed: Differences,
        moved: Differences,
        nodes: Type.Array(NodeSchema),
        day: Type.Object(
          { divergence: Count, errors: Count, alarms: Count },
          { description: 'counts of the last 24 hours, as in stop' },
        ),
      },
      {
        description: `differences between the firings of the two versions, as in a rehearsal; the newest of each task, at most ${MAX_DIFFERENCES}`,
      },
    ),
  },
  { title: 'Rollout' },
)
export interface Rollout extends Decoded<typeof RolloutSchema> {}

export const RolloutPreviewSchema = Type.Object(
  {
    dryRun: Type.Literal(true),
    total: Type.Integer({ minimum: 0, description: 'number of tasks that would be moved or get a shadow' }),
    tasks: Type.Unsafe<readonly TaskPreview[]>(
      Type.Array(ReloadPreviewSchema, { description: 'at most 100, each with the state that it would lose' }),
    ),
  },
  { title: 'RolloutPreview' },
)
export interface RolloutPreview extends Decoded<typeof RolloutPreviewSchema> {}
