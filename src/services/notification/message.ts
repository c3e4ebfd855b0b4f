/** Writes notifications as text, and fills the placeholders of channels. */
import { compileValue } from '#core/spi'
import { AppError, type Issue, type Json, makeIssue } from '#kernel'
import type { Message } from './contract.ts'
import type { NotificationRecord } from './notification-record.ts'

const MAX_SUBJECT = 200
const WORDS = { raised: '', escalated: 'escalated: ', cleared: 'cleared: ' } as const
const SEVERITIES = ['CRITICAL', 'MAJOR', 'MINOR', 'WARNING']

/** `link`: address of the page that acknowledges; undefined for a clearing, or without an address of the host. */
export function messageOf(
  id: string,
  { policy, contact, kind, alarms, total }: NotificationRecord,
  link: string | undefined,
): Message {
  const [first] = alarms
  const severity = SEVERITIES.find((one) => alarms.some((alarm) => alarm.severity === one)) ?? 'CRITICAL'
  const what =
    total === 1 && first !== undefined ? `${first.type} at ${first.source}: ${first.text}` : `${total} alarms`
  const subject = oneLine(`[${severity}] ${WORDS[kind]}${what}`).slice(0, MAX_SUBJECT)
  const lines = alarms.map((alarm) => {
    return oneLine(`${alarm.timestamp} ${alarm.severity} ${alarm.type} at ${alarm.source}: ${alarm.text}`)
  })
  const text = [
    ...lines,
    ...(total > alarms.length ? [`and ${total - alarms.length} more`] : []),
    '',
    ...(link === undefined ? [] : [`Acknowledge: ${link}`]),
    `Policy: ${oneLine(policy)}`,
  ].join('\n')
  const notification = {
    id,
    policy,
    contact,
    kind,
    total,
    severity,
    subject,
    text,
    // for the conditions of templates
    cleared: kind === 'cleared',
    critical: severity === 'CRITICAL',
    ...(link !== undefined && { link }),
  }
  return { id, subject, text, fields: { notification, alarm: first ?? {}, alarms: { list: alarms } } }
}

/** Returns the body as posted by default. */
export function defaultBody({ fields }: Message): unknown {
  const { notification, alarms } = fields as {
    readonly notification: Readonly<Record<string, unknown>>
    readonly alarms: { readonly list: readonly unknown[] }
  }
  const { cleared: _cleared, critical: _critical, ...rest } = notification
  return { ...rest, alarms: alarms.list }
}

/** Fills placeholders such as `{{{alarm.text}}}`. Throws `BINDING`. */
export function filled(value: Json, { fields }: Message): unknown {
  const { evaluate } = compileValue(value, { template: true })
  return evaluate({
    nodeData: (name) => fields[name] as Readonly<Record<string, unknown>> | undefined,
    streamValue: () => undefined,
    isNew: () => false,
    taskId: '',
    taskResource: undefined,
    nodeName: '',
    nodeResource: undefined,
    taskMetadata: () => undefined,
    nodeMetadata: () => undefined,
    variable: () => undefined,
    secret: () => undefined,
    loopItem: () => undefined,
  })
}

/** Returns the problems of a value with placeholders. */
export function problemsOfPlaceholders(value: Json, path: string): readonly Issue[] {
  try {
    compileValue(value, { template: true })
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.issues.length === 0) return [makeIssue('BINDING', path, error.message)]
    return error.issues.map((issue) => ({ ...issue, path: `${path}${issue.path}` }))
  }
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
}
