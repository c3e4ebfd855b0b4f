/** Rejects parts of the language whose form is defined, but which this version does not run. */
import { at, shown } from '#kernel'
import type { Sensor, Trigger } from '../rule.ts'
import type { Report } from './report.ts'
import type { PartialRule, RuleIndex } from './rule-index.ts'

const SENSOR_FIELDS = ['window'] as const satisfies readonly (keyof Sensor)[]
const TRIGGER_FIELDS = ['closes'] as const satisfies readonly (keyof Trigger)[]

export function checkPlanned(rule: PartialRule, { plugNodes }: RuleIndex, report: Report): void {
  for (const { kind, label, path, node } of plugNodes) {
    if (kind === 'sensor') reject(SENSOR_FIELDS, node, `sensor ${shown(label)}`, path, report)
  }
  rule.triggers?.forEach((trigger, i) => {
    const { sourceLabel = '', destinationLabel = '' } = trigger
    const subject = `trigger ${shown(sourceLabel)} -> ${shown(destinationLabel)}`
    reject(TRIGGER_FIELDS, trigger, subject, at('', 'triggers', i), report)
  })
}

function reject<K extends string>(
  fields: readonly K[],
  value: { readonly [Name in K]?: unknown },
  subject: string,
  path: string,
  report: Report,
): void {
  for (const field of fields) {
    if (value[field] === undefined || value[field] === false) continue
    report.error('PLANNED', at(path, field), `${subject}: this version does not run ${shown(field)}`, 'omit it')
  }
}
