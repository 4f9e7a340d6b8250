/** The note on an earlier answer. */
import { createButton } from "./controls.js";
import { createNotice, openDialog } from "./dialog.js";
import { h } from "./dom.js";
import { describeNoteOf, describeSavedNote } from "./note_wording.js";

/** @import { Page } from "./page.js" */
/** @import { SessionEvent } from "./protocol.d.ts" */

/**
 * @param {Page} page
 * @param {SessionEvent} event
 */
export function openNote(page, event) {
  const { body, foot, close } = openDialog(page, describeNoteOf(event.names));
  const field = h("textarea", { class: "lw-note-field", rows: 4, "aria-label": describeNoteOf(event.names) });
  field.value = event.note ?? "";
  const notice = createNotice();
  const save = async () => {
    const note = field.value.trim();
    const describe = () => describeSavedNote(!note);
    const reply = await page.controller.store(
      { do: "note", event: event.number, note },
      { describe, show: notice.show },
    );
    if (reply?.ok) close();
  };
  body.append(field, notice.node);
  foot.append(
    createButton("Save the note", save, { className: "lw-main" }),
    createButton("Leave it as it is", close),
  );
  field.focus();
}
