/** Sends one notification over the channel of its contact. */
import { AppError, isFinalStatus, messageOf as reasonOf, type Json } from '#kernel'
import type { InternalVault } from '#services/vault/contract'
import type { Channel, ContactDocument, SecretName } from './contact-schema.ts'
import type { ChannelPorts, Message } from './contract.ts'
import { Undeliverable } from './dispatcher.ts'
import { defaultBody, filled } from './message.ts'

export interface SendOptions {
  readonly ports: ChannelPorts
  readonly vault: () => InternalVault | undefined
}

const SHOWN = 300

/** Returns the response of the receiver. Throws `Undeliverable` when another attempt would fail too. */
export async function sendOver(
  { channels }: ContactDocument,
  index: number,
  message: Message,
  { ports, vault, signal }: SendOptions & { readonly signal: AbortSignal },
): Promise<string> {
  const channel = channels[index]
  if (channel === undefined) throw new Undeliverable('the contact no longer has this channel')
  const secrets = (await vault()?.open(secretsOf(channel)))?.values ?? new Map<string, string>()
  switch (channel.type) {
    case 'email':
      return mailed(channel, message, ports, signal)
    case 'webhook':
      return posted(channel, message, secrets, ports, signal)
    case 'mqtt':
      return published(channel, message, secrets, ports, signal)
  }
}

async function mailed(
  { to = [] }: Channel,
  { id, subject, text }: Message,
  { mail }: ChannelPorts,
  signal: AbortSignal,
): Promise<string> {
  if (mail === undefined) throw new AppError('UNSUPPORTED', 'the host has no mail server; set --smtp')
  return mail({ id, to, subject, text }, signal)
}

async function posted(
  { url, headers = {}, body }: Channel,
  message: Message,
  secrets: ReadonlyMap<string, string>,
  { post }: ChannelPorts,
  signal: AbortSignal,
): Promise<string> {
  const values = Object.entries(headers).map(([name, value]) => [name, opened(value, secrets)] as const)
  if (values.some(([, value]) => /\p{Cc}/u.test(value))) throw new Undeliverable('a header has a control character')
  const content = body === undefined ? defaultBody(message) : rendered(body, message)
  const isText = typeof content === 'string'
  const answer = await post(
    {
      url: opened(url, secrets),
      headers: {
        'Content-Type': isText ? 'text/plain; charset=utf-8' : 'application/json',
        ...Object.fromEntries(values),
        'Idempotency-Key': message.id,
      },
      body: isText ? content : JSON.stringify(content),
    },
    signal,
  )
  const text = `${answer.status} ${answer.body.slice(0, SHOWN)}`.trim()
  if (answer.status >= 200 && answer.status < 300) return text
  const problem = `the receiver responded with ${text}`
  throw isFinalStatus(answer.status) ? new Undeliverable(problem) : new AppError('FORWARDING', problem)
}

async function published(
  { url, topic = '', user, password, body }: Channel,
  message: Message,
  secrets: ReadonlyMap<string, string>,
  { publish }: ChannelPorts,
  signal: AbortSignal,
): Promise<string> {
  const filledTopic = String(rendered(topic, message))
  // names of resources must not change the levels of the topic
  if (/[+#\0]/.test(filledTopic)) throw new Undeliverable(`"${filledTopic.slice(0, SHOWN)}" is not a valid topic`)
  const publication = {
    id: message.id,
    url: opened(url, secrets),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password: opened(password, secrets) }),
    topic: filledTopic,
    value: body === undefined ? defaultBody(message) : rendered(body, message),
  }
  await publish(publication, signal)
  return `published to ${filledTopic}`.slice(0, SHOWN)
}

function rendered(value: Json, message: Message): unknown {
  try {
    return filled(value, message)
  } catch (error) {
    throw new Undeliverable(reasonOf(error))
  }
}

function secretsOf({ url, headers = {}, password }: Channel): readonly string[] {
  return [url, password, ...Object.values(headers)].flatMap((value) => (typeof value === 'object' ? [value.vault] : []))
}

function opened(value: string | SecretName | undefined, secrets: ReadonlyMap<string, string>): string {
  if (typeof value !== 'object') return value ?? ''
  const secret = secrets.get(value.vault)
  // it may be set later
  if (secret === undefined) throw new AppError('VALIDATION', `the vault has no secret "${value.vault}"`)
  return secret
}
