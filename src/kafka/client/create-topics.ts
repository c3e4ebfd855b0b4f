/** Creates the topics of an engine that are missing, and waits until brokers know them. */
import { Admin } from '@platformatic/kafka'
import { clientOptions, plainError, plainly } from '#services/connectors/kafka'
import { COMPACTED_TOPICS, SINGLE, TOPICS, type TopicRole } from '../contract.ts'

export interface NewTopics {
  readonly connection: Parameters<typeof clientOptions>[0]
  readonly prefix: string
  readonly name: string
  /** partitions of new topics, if the input topic is missing too */
  readonly partitions: number
  /** copies of each partition; -1: the default of the brokers */
  readonly replicas: number
  readonly pause: (ms: number) => Promise<void>
}

const MAX_TRIES = 100
const TRY_MS = 100

/** Returns the names of created topics. */
export async function createTopics({
  connection,
  prefix,
  name,
  partitions,
  replicas,
  pause,
}: NewTopics): Promise<readonly string[]> {
  const admin = new Admin({ ...clientOptions(connection, name), retries: 3 })
  admin.on('error', () => undefined)
  const created: string[] = []
  try {
    const existing = new Set(await plainly(admin.listTopics({})))
    const known = existing.has(prefix + TOPICS.in)
      ? (await plainly(admin.metadata({ topics: [prefix + TOPICS.in] }))).topics.get(prefix + TOPICS.in)
          ?.partitionsCount
      : undefined
    for (const [role, suffix] of Object.entries(TOPICS) as [TopicRole, string][]) {
      const topic = prefix + suffix
      if (existing.has(topic)) continue
      const configs = [
        { name: 'cleanup.policy', value: COMPACTED_TOPICS.has(role) ? 'compact' : 'delete' },
        // arrival is when the broker appended a record, in the order of offsets
        ...(role === 'in' ? [{ name: 'message.timestamp.type', value: 'LogAppendTime' }] : []),
      ]
      const count = SINGLE.has(role) ? 1 : (known ?? partitions)
      try {
        await plainly(admin.createTopics({ topics: [topic], partitions: count, replicas, configs }))
        created.push(topic)
      } catch (error) {
        // another worker was faster
        if (!plainError(error).message.includes('TOPIC_ALREADY_EXISTS')) throw error
      }
    }
    const names = Object.values(TOPICS).map((suffix) => prefix + suffix)
    // brokers learn of new topics one after the other
    for (let tries = 0; created.length > 0 && tries < MAX_TRIES; tries++) {
      const isKnown = await admin.metadata({ topics: names, forceUpdate: true }).then(
        () => true,
        () => false,
      )
      if (isKnown) break
      await pause(TRY_MS)
    }
    return created
  } finally {
    await admin.close().catch(() => undefined)
  }
}
