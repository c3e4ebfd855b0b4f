/** Reads what a converter is configured with; every problem is told at once, at its place. */
import { AppError, at, isPlainObject, Issues, isTooLongForId, MAX_ID_BYTES, shown } from '#kernel'
import { isAddressable, NOT_ADDRESSABLE } from '#services/shared'
import type { Converter } from './contract.ts'
import { topicFault } from './topics.ts'

const MAX_TEMPLATE = 200_000
/** keys that do not count */
export const MAX_IGNORES = 100
const KNOWN = new Set(['name', 'type', 'template', 'compat', 'mqtt', 'identityIgnores'])

export function checkName(name: string): void {
  const issues = new Issues('NAME')
  if (name === '' || /[\p{Cc}\p{Surrogate}]/u.test(name)) issues.wrong('/name', 'must be a text without controls')
  else if (isTooLongForId(name)) issues.wrong('/name', `is longer than ${MAX_ID_BYTES} bytes`)
  else if (!isAddressable(name)) issues.wrong('/name', NOT_ADDRESSABLE)
  issues.throwIfAny('the converter')
}

/** Throws `VALIDATION` with all problems. Whether the template can be read is for whoever makes it ready. */
export function readConverter(name: string, body: unknown): Converter {
  checkName(name)
  const issues = new Issues('CONVERTER')
  if (!isPlainObject(body)) {
    throw new AppError('VALIDATION', 'the converter must be an object; send {"type": "velocity", "template": "..."}')
  }
  const { type, template, compat, mqtt, identityIgnores: ignores } = body
  for (const key of Object.keys(body)) if (!KNOWN.has(key)) issues.wrong(at('', key), 'is no field of a converter')
  if (body['name'] !== undefined && body['name'] !== name) issues.wrong('/name', 'is not the name of the address')
  if (type !== 'velocity') issues.wrong('/type', `${shown(type)} is no type of converter`, 'write "velocity"')
  if (typeof template !== 'string' || template.trim() === '') issues.wrong('/template', 'must be a template, as text')
  else if (template.length > MAX_TEMPLATE) issues.wrong('/template', `is longer than ${MAX_TEMPLATE} characters`)
  if (compat !== undefined && compat !== '1.7' && compat !== '2.4') {
    issues.wrong('/compat', `${shown(compat)} is no version that is followed`, 'write "1.7" or "2.4"')
  }
  const topic = mqtt === undefined ? undefined : readTopic(mqtt, issues)
  if (ignores !== undefined && !isListOfKeys(ignores)) {
    issues.wrong(
      '/identityIgnores',
      `must be at most ${MAX_IGNORES} keys of messages, as texts`,
      'write ["receivedAt"]',
    )
  }
  issues.throwIfAny('the converter')
  return {
    name,
    type: 'velocity',
    template: String(template),
    ...((compat === '1.7' || compat === '2.4') && { compat }),
    ...(topic !== undefined && { mqtt: { topic } }),
    ...(isListOfKeys(ignores) && ignores.length > 0 && { identityIgnores: ignores }),
  }
}

function isListOfKeys(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_IGNORES && value.every((key) => typeof key === 'string')
}

function readTopic(mqtt: unknown, issues: Issues): string | undefined {
  const topic = isPlainObject(mqtt) ? mqtt['topic'] : undefined
  if (typeof topic !== 'string') return issues.wrong('/mqtt/topic', 'must be a topic, as text', 'write "gw/+/up"')
  const fault = topicFault(topic)
  return fault === undefined ? topic : issues.wrong('/mqtt/topic', `"${topic.slice(0, 80)}" ${fault}`)
}
