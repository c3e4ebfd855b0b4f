/** Notification and maintenance in words. */
import { countText, listText } from './numbers.ts'

interface Calls {
  readonly calendars: readonly { readonly contacts: readonly string[] }[]
}

/** Returns the answer of the screen: who is on call, and what holds alarms back. */
export function onCallAnswer(
  { calendars }: Calls,
  policies: readonly unknown[],
  windows: readonly { readonly state: string }[],
): string {
  const contacts = [...new Set(calendars.flatMap((one) => one.contacts))]
  const active = windows.filter(({ state }) => state === 'active').length
  const held = active === 0 ? '' : `; ${countText(active, 'maintenance window')} ${active === 1 ? 'is' : 'are'} active`
  if (contacts.length > 0) return `${listText(contacts)} ${contacts.length === 1 ? 'is' : 'are'} on call${held}`
  return policies.length === 0
    ? `Alarms notify no contact${held}`
    : `${countText(policies.length, 'policy notifies', 'policies notify')} contacts${held}`
}

/** Returns which alarms or resources are selected. */
export function selectionText(select: Readonly<Record<string, unknown>> = {}): string {
  const parts = Object.entries(select).map(([name, value]) => {
    if (Array.isArray(value)) return value.join(', ')
    if (typeof value === 'string') return name === 'prefix' ? `${value}*` : value
    return Object.entries((value ?? {}) as Record<string, unknown>)
      .map(([key, one]) => `${key} ${String(one)}`)
      .join(', ')
  })
  return parts.length === 0 ? 'all' : parts.join('; ')
}

interface Recipients {
  readonly contacts?: readonly string[]
  readonly onCall?: string
  readonly escalate?: readonly {
    readonly after: string
    readonly contacts?: readonly string[]
    readonly onCall?: string
  }[]
}

export function recipientsText({ contacts = [], onCall, escalate = [] }: Recipients): string {
  const first = [...contacts, ...(onCall === undefined ? [] : [`on call of ${onCall}`])]
  const steps = escalate.map((step) => `after ${step.after} ${recipientsText({ ...step, escalate: [] })}`)
  return [first.join(', '), ...steps].filter((text) => text !== '').join('; ')
}

interface Notified {
  readonly state: string
  readonly attempts: number
  readonly lastError?: string
  readonly acknowledgedTime?: string
}

export function notificationText({ state, attempts, lastError, acknowledgedTime }: Notified): string {
  if (acknowledgedTime !== undefined) return `${state}, acknowledged by its link`
  if (lastError === undefined || state === 'delivered') return state
  return `${state} after ${countText(attempts, 'attempt')}: ${lastError}`
}
