/** Sends mails over SMTP; the package is loaded with the first mail. */
import type { Transporter } from 'nodemailer'
import { AppError } from '#kernel'
import type { ChannelPorts } from './contract.ts'

export interface MailServer {
  /** such as `smtps://user@mail.example.com`; with smtp: the connection is upgraded to TLS if the server offers it */
  readonly url: string
  readonly password?: string | undefined
  /** address of the sender */
  readonly from: string
}

const CONNECT_MS = 10_000
const SOCKET_MS = 15_000
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

export function mailSender({ url, password, from }: MailServer): NonNullable<ChannelPorts['mail']> {
  let opening: Promise<Transporter> | undefined
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return async ({ id, to, subject, text }, signal) => {
    const transport = await (opening ??= open(url, password))
    if (signal.aborted) throw new AppError('CLOSED', 'the mail was not sent')
    const sent: unknown = await transport.sendMail({
      from,
      to: [...to],
      subject,
      text,
      messageId: `<${id}@${domain}>`,
      headers: { 'Auto-Submitted': 'auto-generated', 'X-Reflexarc-Notification': id },
      disableFileAccess: true,
      disableUrlAccess: true,
    })
    const { response, rejected } = sent as { readonly response?: string; readonly rejected?: readonly unknown[] }
    if (rejected !== undefined && rejected.length > 0)
      throw new AppError('FORWARDING', `the server rejected ${rejected.map(String).join(', ').slice(0, 500)}`)
    return response ?? 'accepted'
  }
}

async function open(address: string, password: string | undefined): Promise<Transporter> {
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username } = new URL(address)
  const isSecure = protocol === 'smtps:'
  const user = decodeURIComponent(username)
  return createTransport({
    host: hostname.replaceAll(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    // a password never crosses a network in the clear
    requireTLS: !isSecure && user !== '' && !LOOPBACK.test(hostname),
    ...(user !== '' && { auth: { user, pass: password ?? '' } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SOCKET_MS,
  })
}
