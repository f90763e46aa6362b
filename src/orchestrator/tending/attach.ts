/** For the surfaces: the terminal of an agent at work. */
export { connectSession, type Session, type SessionEnd } from "../../agents/session/connect.js";
