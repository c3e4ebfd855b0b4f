/** The page of devices, as printed: fifty devices enrol, publish over MQTT with TLS, and can do nothing else. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PEM } from '../host/tls-files.ts'
import { builtCode } from '../support/built-code.ts'
import { fencedBlocks } from '../support/read-markdown.ts'
import { readText } from '../support/repository.ts'
import { mustRun } from '../support/run-command.ts'

const isMissing = spawnSync('mosquitto_pub', ['--version']).error !== undefined

async function freePort(): Promise<string> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return String(port)
}

it.skipIf(isMissing)(
  'fifty devices of the page publish their own data, and nothing else',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reflexarc-devices-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    for (const name of ['server.pem', 'server.key', 'ca.pem']) copyFileSync(PEM(name), join(folder, name))
    const command = `#!/bin/sh\nexec node '${builtCode('cli.js')}' "$@"\n`
    writeFileSync(join(folder, 'reflexarc'), command, { mode: 0o755 })
    const printed = fencedBlocks(readText('docs/how-to/access.md')).find(({ text }) => text.includes('--provisioning'))
    const ask = `curl -s --cacert ca.pem -w ' %{http_code}' -o /dev/null`
    const host = 'https://localhost:8443'
    const script = `
PATH="$PWD:$PATH"
trap 'kill $(jobs -p); wait' EXIT
${printed?.text}
admin="$(reflexarc keys add --scope read --json --data ./data --url ${host})"
echo "$admin" > admin.json
pair="$(value_of key admin.json):$(value_of secret admin.json)"
for n in $(seq 1 50); do
  other=$((n % 50 + 1))
  device="$(value_of key "meter-$n.json"):$(value_of secret "meter-$n.json")"
  echo "meter-$n$(${ask} -u "$pair" ${host}/resources/meter-$n/current)"\
"$(${ask} -u "$device" -H 'content-type: application/json' -d '{"kwh":1}' ${host}/resources/meter-$other/events)"\
"$(${ask} -u "$device" ${host}/resources/meter-$n/current)"
done`
    const ports = { 8443: await freePort(), 8883: await freePort() } as const
    const moved = script.replaceAll(/\b(?:8443|8883)\b/g, (port) => ports[Number(port) as 8443 | 8883])
    const output = mustRun('bash', ['-c', moved], folder)
    const lines = output.split('\n').filter((line) => line.startsWith('meter-'))
    expect(lines).toEqual(Array.from({ length: 50 }, (_, n) => `meter-${n + 1} 200 403 403`))
  },
  300_000,
)
