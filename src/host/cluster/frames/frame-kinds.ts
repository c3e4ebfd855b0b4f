/**
 * Defines the kinds and limits of frames. Numbers never change their meaning, since hosts of different versions
 * communicate.
 */

export const PROTOCOL = 'reflexarc-frames-1'
export const FRAMES_PATH = '/cluster/frames'
export const NONCE_HEADER = 'reflexarc-nonce'

/** Sent by the forwarding host: a request. */
export const ASK = 1
/** Sent by the forwarding host: cancels a request. */
export const DROP = 2
/** Sent by the forwarding host: acknowledges bytes of pieces; the head contains their number. */
export const MORE = 3

export const ANSWER = 16
/** Sent by the owner: head of an answer that follows in pieces. */
export const BEGIN = 17
export const PIECE = 18
/** Sent by the owner: the last piece was sent. */
export const END = 19
/** Sent by the owner: the answer failed or broke off. */
export const BROKEN = 20
/** Sent by a stopping owner: the request had no effect. */
export const UNTAKEN = 21
/** Sent by a stopping owner: no further requests are accepted. Belongs to no request. */
export const LEAVING = 22

/** Maximum bytes of a body in one frame */
export const MAX_BODY = 65_536
/** Maximum bytes of a head */
export const MAX_HEAD = 131_072
export const MAX_OPEN = 2_048
/** Maximum unacknowledged bytes of one answer */
export const WINDOW = 131_072

/** Method, address, headers, and the hop mark: hop count, term, slot, client's IP */
export type AskHead = readonly [
  string,
  string,
  Readonly<Record<string, string | readonly string[]>>,
  number,
  number,
  number,
  string,
]
export type AnswerHead = readonly [number, Readonly<Record<string, HeaderValue>>]

export type HeaderValue = string | number | readonly string[]
