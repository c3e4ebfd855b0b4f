/**
 * Keeps copies of task inputs as the database of a cluster received them, including inputs that hosts have trimmed
 * since.
 */
import { Client } from 'pg'
import { LOG_NAME } from '../../../src/log/message-entry.ts'
import { inputOf, messagesOf } from '../../../src/services/rules/durable/input.ts'
import type { Json } from '../../../src/kernel/json.ts'
import type { Message } from '../../../src/core/task/origin.ts'

/** Makes the database copy each log entry from now on. Requires the schema. */
export function keepLog(url: string): Promise<void> {
  return asked(url, async (client) => {
    await client.query(`
      create table reflexarc.kept (like reflexarc.log_entries);
      create function reflexarc.keep() returns trigger language plpgsql as
        $$ begin insert into reflexarc.kept select new.*; return new; end $$;
      create trigger keep after insert on reflexarc.log_entries for each row
        when (new.log = '${LOG_NAME}') execute function reflexarc.keep()`)
  })
}

export interface KeptMessage {
  readonly message: Message
  /** Time at which the message was processed, epoch ms */
  readonly at: number
}

/** Returns the messages that tasks received, by partition of the tenant, in the order of its log. */
export function keptMessages(url: string, tenant: string): Promise<ReadonlyMap<number, readonly KeptMessage[]>> {
  return asked(url, async (client) => {
    const { rows } = await client.query<{ partition: string; body: string }>(
      'select partition, body from reflexarc.kept where tenant = $1 order by partition, position',
      [tenant],
    )
    const found = new Map<number, KeptMessage[]>()
    for (const { partition, body } of rows) {
      const input = inputOf(JSON.parse(body) as Json)
      if (input?.k !== 'data' || input.c !== undefined) continue
      const log = found.get(Number(partition)) ?? []
      for (const message of messagesOf(input.m)) log.push({ message, at: input.at })
      found.set(Number(partition), log)
    }
    return found
  })
}

async function asked<R>(url: string, work: (client: Client) => Promise<R>): Promise<R> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
