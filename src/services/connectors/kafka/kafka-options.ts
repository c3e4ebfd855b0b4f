/** Translates connections to options of the Kafka client, and its errors to one sentence. */
import { Admin, type AdminOptions, type SASLMechanismValue } from '@platformatic/kafka'
import { messageOf } from '#kernel'
import type { Connection, Opening } from '../port.ts'

const MECHANISMS = {
  plain: 'PLAIN',
  'scram-sha-256': 'SCRAM-SHA-256',
  'scram-sha-512': 'SCRAM-SHA-512',
  oauthbearer: 'OAUTHBEARER',
} as const satisfies Record<string, SASLMechanismValue>

const CONNECT_MS = 10_000
const NOT_LOGGED_IN = 'ILLEGAL_SASL_STATE'

/** The host itself retries, so that its status shows the error. */
export function clientOptions(
  { brokers = [], tls, login, clientId: named }: Connection,
  clientId: string,
): AdminOptions {
  const { serverName, ...certificates } = typeof tls === 'object' ? tls : {}
  const { mechanism = 'plain', user, password, token } = login ?? {}
  return {
    clientId: named ?? clientId,
    bootstrapBrokers: [...brokers],
    connectTimeout: CONNECT_MS,
    requestTimeout: 30_000,
    retries: 3,
    retryDelay: 500,
    ...(tls !== undefined &&
      tls !== false && { tls: { ...certificates, ...(serverName && { servername: serverName }) } }),
    ...(serverName && { tlsServerName: serverName }),
    ...(login && {
      sasl: {
        mechanism: MECHANISMS[mechanism],
        ...(user !== undefined && { username: user }),
        ...(password !== undefined && { password }),
        ...(token !== undefined && { token }),
      },
    }),
  }
}

/** Returns the innermost error, since the client wraps what a broker said in what it tried. */
export function plainError(error: unknown): Error {
  const nested = error instanceof AggregateError ? (error.errors as readonly unknown[]).at(-1) : undefined
  const cause = nested ?? (error instanceof Error ? error.cause : undefined)
  if (cause instanceof Error) return plainError(cause)
  const { apiId } = error as { readonly apiId?: string }
  const text = messageOf(error)
  // the client ignores the rejection of a token, and fails with its next request
  if (apiId === NOT_LOGGED_IN || text.includes(NOT_LOGGED_IN)) {
    const meaning = `the broker rejected the token of the login, which may have expired (${NOT_LOGGED_IN})`
    return new Error(meaning, { cause: error })
  }
  return new Error(apiId === undefined ? text : `${apiId}: ${text}`, { cause: error })
}

export async function plainly<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw plainError(error)
  }
}

export interface FoundTopic {
  readonly id: string
  readonly partitions: number
}

/** Looks up topics with a connection of its own. Rejects for a topic that does not exist. */
export async function findTopics(
  { connection, clientId, checkAddress }: Pick<Opening<unknown>, 'connection' | 'clientId' | 'checkAddress'>,
  topics: string[],
): Promise<ReadonlyMap<string, FoundTopic>> {
  const admin = new Admin(clientOptions(connection, clientId))
  try {
    const metadata = await plainly(admin.metadata({ topics, forceUpdate: true }))
    for (const { host, port } of metadata.brokers.values()) await checkAddress?.(`${host}:${port}`)
    return new Map(
      [...metadata.topics].map(([name, { id, partitionsCount }]) => [name, { id, partitions: partitionsCount }]),
    )
  } finally {
    await admin.close().catch(() => undefined)
  }
}
