/** The fixed words of the rules interface. */
export const TASK_STATUSES = ['running', 'stopped', 'failed'] as const
export const TASK_TYPES = ['onetime', 'scheduled', 'reactive', 'periodic'] as const
export const GRAPH_FORMATS = ['bn', 'simplified'] as const
export const ISSUE_SEVERITIES = ['ERROR', 'WARNING', 'INFO'] as const
export const LOG_LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const

export const BATCH_ACTIONS = [
  'updatePlugins',
  'updateProperties',
  'delete',
  'start',
  'restart',
  'stop',
  'reload',
  'stopAndDelete',
] as const
export type BatchAction = (typeof BATCH_ACTIONS)[number]
export type LogLevel = (typeof LOG_LEVELS)[number]
