import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { createClient } from '../../src/client.ts'
import { serveStdio } from '../../src/mcp/stdio.ts'

function opened(fetch: typeof globalThis.fetch = () => Promise.reject(new Error('away'))) {
  const [input, output] = [new PassThrough(), new PassThrough()]
  const failures: unknown[] = []
  const done = serveStdio(
    { input, output },
    {
      version: '1.0.0',
      client: createClient({ url: 'http://127.0.0.1:1', fetch }),
      prove: () => Promise.reject(new Error('not here')),
      failed: (error) => void failures.push(error),
    },
  )
  const say = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const call = (name: string, args: object): void =>
    say({ id: 1, method: 'tools/call', params: { name, arguments: args } })
  const heard = async (): Promise<Record<string, unknown>> => {
    const [chunk] = (await once(output, 'data')) as [Buffer]
    return JSON.parse(chunk.toString('utf8')) as Record<string, unknown>
  }
  return { input, done, say, call, heard, failures }
}

it('calls are answered before the end of the input ends the server', { timeout: 20_000 }, async () => {
  let answer = (): void => undefined
  const asked = new Promise<void>((resolve) => (answer = resolve))
  const server = opened(async () => {
    await asked
    return Response.json({ valid: true, issues: [] })
  })
  server.call('check_rule', { rule: {} })
  server.input.end()
  await once(server.input, 'end')
  answer()
  expect(await server.heard()).toMatchObject({ result: { structuredContent: { valid: true, issues: [] } } })
  await server.done
})

it('a message of 10 MB ends the server', { timeout: 20_000 }, async () => {
  const { call, done } = opened()
  call('check_rule', { rule: { name: 'a'.repeat(10_000_000) } })
  await expect(done).rejects.toThrow(/maximum size of 4194304 bytes/)
})

it('a line that is not JSON is passed over', async () => {
  const { input, say, heard, done } = opened()
  input.write('hello\n')
  say({ id: 7, method: 'ping' })
  expect(await heard()).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
  input.end()
  await done
})

it('an unexpected failure is reported to the log, and only as such to the assistant', async () => {
  const { call, heard, failures, input, done } = opened()
  call('check_rule', { rule: {} })
  const { result } = await heard()
  expect(result).toMatchObject({ isError: true, structuredContent: { error: { code: 'INTERNAL' } } })
  expect(JSON.stringify(result)).not.toContain('away')
  expect(failures).toEqual([new Error('away')])
  input.end()
  await done
})
