/** Identifies devices by the certificates that they show. Only valid certificates get here (TLS-3). */
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { AppError, shown } from '#kernel'
import type { ApiKeys } from './api-keys.ts'
import type { CheckedCaller } from './caller.ts'
import type { KeyChanges } from './key-changes.ts'
import { REMEMBERED_MS } from './remembered-checks.ts'

export interface DeviceCertificate {
  readonly fingerprint: string
  /** Common name, then alternative names */
  readonly names: readonly string[]
  /** Epoch ms */
  readonly ends: number
}

export interface DeviceCertificatesDependencies {
  readonly keys: Pick<ApiKeys, 'ofDevice'>
  /** The first tenant, to which devices with certificates belong */
  readonly tenant: string
  readonly changes: KeyChanges
  /** Returns epoch ms */
  readonly now: () => number
}

export class DeviceCertificates {
  readonly #dependencies: DeviceCertificatesDependencies

  constructor(dependencies: DeviceCertificatesDependencies) {
    this.#dependencies = dependencies
  }

  /** Returns undefined if the client showed none. */
  shownOn(socket: Socket): DeviceCertificate | undefined {
    if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined
    const { subject, subjectaltname = '', fingerprint256, valid_to: end } = socket.getPeerCertificate()
    const others = subjectaltname.split(', ').flatMap((name) => /^(?:DNS|URI):(.+)$/.exec(name)?.[1] ?? [])
    return { fingerprint: fingerprint256, names: [...[subject.CN ?? []].flat(), ...others], ends: Date.parse(end) }
  }

  /** Throws `UNAUTHORIZED` if no name of the certificate is that of a device key or its resource. */
  async check(certificate: DeviceCertificate): Promise<CheckedCaller> {
    const caller = await this.#find(certificate)
    if (caller !== undefined) return caller
    const names = certificate.names.map((name) => name.slice(0, 100)).join(', ')
    throw new AppError(
      'UNAUTHORIZED',
      `The certificate names ${names}, which has no device key; add one with reflexarc keys add --scope device`,
    )
  }

  /** Requires that credentials beside a certificate belong to the same device. */
  async requireSame(certificate: DeviceCertificate, { user }: Pick<CheckedCaller, 'user'>): Promise<void> {
    const own = await this.#find(certificate)
    if (own === undefined || own.user === user) return
    const right = 'leave them out, or use the certificate of that device'
    throw new AppError('UNAUTHORIZED', `The certificate is that of another key than ${shown(user)}; ${right}`)
  }

  async #find(certificate: DeviceCertificate): Promise<CheckedCaller | undefined> {
    const { keys, tenant, changes, now } = this.#dependencies
    const moment = changes.now()
    for (const name of certificate.names) {
      const caller = await keys.ofDevice(name, tenant)
      if (caller === undefined) continue
      const ends = Math.min(caller.ends ?? Infinity, certificate.ends)
      if (ends <= now()) continue
      return {
        ...caller,
        ends,
        until: Math.min(ends, now() + REMEMBERED_MS),
        isCurrent: () => changes.areNoneSince(moment),
        again: () => this.#find(certificate),
      }
    }
    return undefined
  }
}
