// Holds TLS-1, TLS-2
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type Server, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Certificates, type TlsFiles } from '../../src/host/certificates.ts'
import { PEM } from './tls-files.ts'

const NOW = Date.UTC(2026, 10, 30)
let folder: string
let files: TlsFiles
const logged: string[] = []
const logger = { warn: (text: string) => void logged.push(text), error: (text: string) => void logged.push(text) }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reflexarc-tls-'))
  files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') }
  logged.length = 0
  put('server')
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Replaces the certificate, the key, or both. */
function put(cert: string | undefined, key = cert): void {
  if (cert !== undefined) copyFileSync(PEM(`${cert}.pem`), files.cert)
  if (key !== undefined) copyFileSync(PEM(`${key}.key`), files.key)
}
const opened = () => Certificates.open(files, { now: () => NOW, logger })

async function serving(certificates: Certificates): Promise<Server> {
  const server = createServer(certificates.options, (socket) => socket.pipe(socket))
  certificates.keep(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return server
}

async function connected(server: Server): Promise<TLSSocket> {
  const { port } = server.address() as { port: number }
  const socket = connect({ port, host: '127.0.0.1', ca: PEM.text('ca.pem') })
  await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject))
  onTestFinished(() => void socket.destroy())
  return socket
}
const nameOf = (socket: TLSSocket) => socket.getPeerCertificate().subject.CN

describe('certificates at the start', () => {
  it.each<[string, () => void, RegExp]>([
    [
      'a missing file',
      () => rmSync(files.cert),
      /^--tls-cert: .*tls\.crt cannot be read: ENOENT.*; name a readable file$/,
    ],
    [
      'swapped files',
      () => writeSwapped(),
      /^--tls-cert: .*tls\.crt has a private key; swap --tls-cert and --tls-key$/,
    ],
    [
      'text',
      () => writeFileSync(files.cert, 'x'),
      /^--tls-cert: .*tls\.crt is not a certificate in PEM; write .*BEGIN/,
    ],
    [
      'a key that is text',
      () => writeFileSync(files.key, 'x'),
      /^--tls-key: .*tls\.key is not a private key in PEM without/,
    ],
    [
      'a key of another certificate',
      () => put('server', 'renewed'),
      /^--tls-key: .*tls\.key is not the key of .*tls\.crt;/,
    ],
  ])('reject %s', async (_what, change, text) => {
    change()
    await expect(opened()).rejects.toMatchObject({ code: 'USAGE', message: expect.stringMatching(text) as unknown })
  })

  it('are used when they have expired, with a warning', async () => {
    put('expired')
    const { warnings } = await opened()
    expect(warnings()).toEqual([`The certificate ${files.cert} expired on 2021-01-01; replace it and its key`])
  })

  it('cause no warning when they are valid', async () => {
    expect((await opened()).warnings()).toEqual([])
  })

  it('warn two weeks before they expire, and before they begin', async () => {
    const at = async (ms: number) => (await Certificates.open(files, { now: () => ms, logger })).warnings()
    put('expired')
    expect(await at(Date.UTC(2020, 11, 20))).toEqual([
      `The certificate ${files.cert} expires on 2021-01-01; replace it and its key`,
    ])
    expect(await at(Date.UTC(2019, 11, 20))).toEqual([`The certificate ${files.cert} is valid only from 2020-01-01 on`])
  })
})

function writeSwapped(): void {
  copyFileSync(PEM('server.key'), files.cert)
  copyFileSync(PEM('server.pem'), files.key)
}

describe('certificates that change', () => {
  it('are used by the next connection, and open connections continue', async () => {
    const certificates = await opened()
    const server = await serving(certificates)
    const before = await connected(server)
    put('renewed')
    await certificates.look()
    expect([nameOf(before), nameOf(await connected(server))]).toEqual(['server', 'renewed'])
    before.write('still here')
    const echo = await new Promise((resolve) => before.once('data', (data: Buffer) => resolve(data.toString())))
    expect(echo).toBe('still here')
    expect(logged).toEqual([`The certificate ${files.cert} changed; new connections use it`])
  })

  it('are not used until the key fits, which is logged once', async () => {
    const certificates = await opened()
    const server = await serving(certificates)
    put('renewed', undefined)
    copyFileSync(PEM('server.key'), files.key)
    await certificates.look()
    await certificates.look()
    expect(nameOf(await connected(server))).toBe('server')
    const problem = `--tls-key: ${files.key} is not the key of ${files.cert}; use the key for which the certificate was issued`
    expect(logged).toEqual([`The previous certificate stays in use: ${problem}`])
    expect(certificates.warnings()).toEqual([`The previous certificate stays in use: ${problem}`])
    put(undefined, 'renewed')
    await certificates.look()
    expect(nameOf(await connected(server))).toBe('renewed')
    expect(certificates.warnings()).toEqual([])
  })
})
