/** Lists the stable kinds of problem in a rule or template. docs/reference/errors.md shows the table. */
export const ISSUE_TYPES = {
  TYPE: 'a value of the wrong type or out of range',
  FIELD: 'an unknown field, or one without an effect in its place',
  KEY: 'a key that could reach a prototype',
  TOO_LARGE: 'a document, nesting or table above its bound',
  LABEL: 'a missing, double or unknown node label',
  PLUG: 'an unknown plug, one of the wrong kind, or a major version that is not there; in answers of the host `PLUGIN`',
  VERSION:
    'a version that is not there: a note when the plug says that it stands for it, a warning when it only has the same major version',
  PROPERTY: 'a property of a plug that is missing or wrong',
  UNKNOWN_PROPERTY: 'a property that the plug does not declare; a warning, and an error when the check is strict',
  STATE: 'a state that its node cannot have',
  GATE: 'a relation of the wrong shape, one whose result never changes, or a row that can never hold',
  TRIGGER: 'a trigger that cannot be, or says nothing',
  RESET:
    'a change from `*` that a reset of observations makes out of every run: write `begins` in its place, or name `stateFrom`',
  CYCLE: 'nodes that run each other for ever',
  BINDING: 'a placeholder that leads nowhere',
  LATENCY: 'a placeholder that reads the answer of an actuator, which comes when it comes',
  VARIABLE: 'a variable undeclared, missing or of the wrong type',
  RESOURCE: 'a resource placeholder that cannot be used',
  TASK: 'task settings',
  SCHEDULE: 'a cron, rrule or time zone that cannot be used; a warning when a unix cron has both day fields',
  FREQUENCY: 'a clock that ticks more often than every 100 ms',
  START: 'a node that never runs',
  SILENCE: 'a sensor that should tell that nothing comes, and that only what comes runs: give it a clock',
  EVALUATION:
    'a decision that one evaluation per input makes otherwise than an evaluation per answer did; a note, of `reflexarc check` alone',
  OVERRIDE: 'a per-node override that fits no node',
  TABLE: 'a truth table of the bn form',
} as const

export type IssueType = keyof typeof ISSUE_TYPES
