/** Lists the stable kinds of problem in a rule or template. docs/reference/errors.md shows the table. */
export const ISSUE_TYPES = {
  TYPE: 'a value of the wrong type or out of range',
  FIELD: 'an unknown field, or one without an effect in its place',
  KEY: 'a key that could reach a prototype',
  TOO_LARGE: 'a document, nesting or table that exceeds its limit',
  LABEL: 'a missing, duplicate or unknown node label',
  PLUG: 'an unknown plug, a plug of the wrong kind, or an unavailable major version; `PLUGIN` in responses of the host',
  VERSION:
    'an unavailable version: a note if a compatible version of the plug runs instead, a warning if another version of the same major version does',
  PROPERTY: 'a property of a plug that is missing or wrong',
  UNKNOWN_PROPERTY: 'a property that the plug does not declare; a warning, and an error when the check is strict',
  STATE: 'a state that its node cannot have',
  GATE: 'a relation of the wrong shape, one whose result never changes, or a row that can never hold',
  TRIGGER: 'an invalid trigger, or one without an effect',
  RESET:
    'a trigger on a change from `*`, which fires on every run because observations are reset: use `begins`, or set `stateFrom`',
  CYCLE: 'nodes that trigger each other endlessly',
  BINDING: 'a placeholder whose target does not exist',
  LATENCY: 'a placeholder that reads the result of an actuator, which arrives at an undefined time',
  VARIABLE: 'an undeclared or missing variable, or one of the wrong type',
  RESOURCE: 'a resource placeholder that cannot be used',
  TASK: 'task settings',
  SCHEDULE: 'a cron, rrule or time zone that cannot be used; a warning when a unix cron has both day fields',
  FREQUENCY: 'a clock that ticks more often than every 100 ms',
  START: 'a node that never runs',
  SILENCE: 'a sensor that should detect missing messages, but runs only on messages: add a clock to it',
  EVALUATION:
    'a decision that differs between one evaluation per input and one per result; a note, only in `reflexarc check`',
  OVERRIDE: 'a per-node override without a matching node',
  GROUP: 'a group, window or input of a sensor that is incomplete, contradictory or in the wrong place',
  PLANNED: 'a part of the language whose form is defined, but which this version does not run',
  TABLE: 'an invalid truth table of the bn form',
} as const

export type IssueType = keyof typeof ISSUE_TYPES
