/**
 * Reads the certificate of the host from files, and again when they change.
 *
 * TLS-1 files that cannot be used stop the start; later they do not replace the certificate that is in use
 * TLS-2 a changed certificate is used by the next connection; open connections continue
 * TLS-3 a connection with a client certificate that is invalid is closed, and the log states the reason
 */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext, type Server, type TLSSocket } from 'node:tls'
import { AppError, type Logger, messageOf, RateLimitedLogger } from '#kernel'
import { machineTimers } from '#platform'

export interface TlsFiles {
  readonly cert: string
  readonly key: string
  /** CAs of device certificates; absent: clients are not asked for a certificate */
  readonly clientCa?: string
}

interface Pair {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

interface CertificateOptions {
  /** Returns epoch ms */
  readonly now: () => number
  readonly logger: Logger
}

/** How long before its end a certificate causes a warning, in ms */
const SOON_MS = 14 * 86_400_000

export class Certificates {
  readonly #files: TlsFiles
  readonly #options: CertificateOptions
  readonly #servers = new Set<Pick<Server, 'setSecureContext'>>()
  readonly #refused: RateLimitedLogger
  #pair: Pair
  #problem: string | undefined

  private constructor(files: TlsFiles, pair: Pair, options: CertificateOptions) {
    this.#files = files
    this.#pair = pair
    this.#options = options
    this.#refused = new RateLimitedLogger({
      write: (what, details) => options.logger.warn(what, details),
      after: machineTimers.later,
    })
  }

  /** Rejects with `USAGE` when the files cannot be used. */
  static async open(files: TlsFiles, options: CertificateOptions): Promise<Certificates> {
    return new Certificates(files, await readPair(files), options)
  }

  /** Options for a server, which `keep` keeps current */
  get options(): Pair & { readonly requestCert?: boolean; readonly rejectUnauthorized?: boolean } {
    // Node would close connections with an invalid certificate without a reason, and those without one
    return this.#pair.ca === undefined ? this.#pair : { ...this.#pair, requestCert: true, rejectUnauthorized: false }
  }

  keep(server: Pick<Server, 'setSecureContext' | 'on'>): void {
    this.#servers.add(server)
    if (this.#files.clientCa !== undefined) server.on('secureConnection', (socket) => this.#admit(socket))
  }

  #admit(socket: TLSSocket): void {
    const { subject } = socket.getPeerCertificate()
    // an object without members if the client showed none
    if (socket.authorized || (subject as typeof subject | undefined) === undefined) return
    const { remoteAddress: address = '' } = socket
    const reason = problemOf(String(socket.authorizationError))
    this.#refused.log(`A client certificate was refused, CN=${String(subject.CN).slice(0, 100)}: ${reason}`, '', {
      address,
    })
    socket.destroy()
  }

  /** Uses the files if they have changed. */
  async look(): Promise<void> {
    try {
      const pair = await readPair(this.#files)
      this.#problem = undefined
      if (pair.cert === this.#pair.cert && pair.key === this.#pair.key && pair.ca === this.#pair.ca) return
      this.#pair = pair
      for (const server of this.#servers) server.setSecureContext(pair)
      this.#options.logger.warn(`The certificate ${this.#files.cert} changed; new connections use it`)
    } catch (error) {
      const problem = `The previous certificate stays in use: ${messageOf(error)}`
      if (problem !== this.#problem) this.#options.logger.error(problem)
      this.#problem = problem
    }
  }

  /** Returns the end of the certificate in use, epoch ms. */
  get expiry(): number {
    return new X509Certificate(this.#pair.cert).validToDate.getTime()
  }

  readonly warnings = (): readonly string[] => {
    const { validFromDate, validToDate } = new X509Certificate(this.#pair.cert)
    const now = this.#options.now()
    const left = validToDate.getTime() - now
    const about = `The certificate ${this.#files.cert}`
    return [
      ...(this.#problem === undefined ? [] : [this.#problem]),
      ...(validFromDate.getTime() > now ? [`${about} is valid only from ${dayOf(validFromDate)} on`] : []),
      ...(left < SOON_MS
        ? [`${about} ${left < 0 ? 'expired' : 'expires'} on ${dayOf(validToDate)}; replace it and its key`]
        : []),
    ]
  }
}

const PROBLEMS: ReadonlyMap<string, string> = new Map([
  ['CERT_HAS_EXPIRED', 'it has expired; renew it'],
  ['CERT_NOT_YET_VALID', 'it is not valid yet; check the clock of this machine'],
  ['INVALID_PURPOSE', 'it is not for clients; issue it with clientAuth'],
])

function problemOf(code: string): string {
  return PROBLEMS.get(code) ?? `it is not signed by a CA of --tls-client-ca (${code})`
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

async function readPair(files: TlsFiles): Promise<Pair> {
  const [cert, key] = await Promise.all([read('--tls-cert', files.cert), read('--tls-key', files.key)])
  if (cert.includes('PRIVATE KEY-----') && !cert.includes('BEGIN CERTIFICATE'))
    throw unusable(`--tls-cert: ${files.cert} has a private key; swap --tls-cert and --tls-key`)
  const certificate = parsed(
    () => new X509Certificate(cert),
    `--tls-cert: ${files.cert} is not a certificate in PEM; write a file with -----BEGIN CERTIFICATE-----`,
  )
  const privateKey = parsed(
    () => createPrivateKey(key),
    `--tls-key: ${files.key} is not a private key in PEM without a passphrase; write a file with -----BEGIN PRIVATE KEY-----`,
  )
  if (!certificate.checkPrivateKey(privateKey))
    throw unusable(
      `--tls-key: ${files.key} is not the key of ${files.cert}; use the key for which the certificate was issued`,
    )
  const ca = files.clientCa === undefined ? undefined : await read('--tls-client-ca', files.clientCa)
  if (ca !== undefined) {
    parsed(
      () => new X509Certificate(ca),
      `--tls-client-ca: ${files.clientCa} is not a certificate in PEM; write a file with -----BEGIN CERTIFICATE-----`,
    )
  }
  const pair = { cert, key, ...(ca !== undefined && { ca }) }
  parsed(
    () => createSecureContext(pair),
    `--tls-cert: ${files.cert} has an unusable chain; write its certificates in order`,
  )
  return pair
}

async function read(option: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw unusable(`${option}: ${file} cannot be read: ${messageOf(error)}; name a readable file`)
  }
}

function parsed<T>(parse: () => T, problem: string): T {
  try {
    return parse()
  } catch (error) {
    throw unusable(problem, error)
  }
}

function unusable(problem: string, cause?: unknown): AppError {
  return new AppError('USAGE', problem, { cause })
}
