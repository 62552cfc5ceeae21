/* event_file.c - see event_file.h. */
#include "report/event_file.h"

#include <math.h>
#include <string.h>

/* --- protocol buffers --------------------------------------------------------------------------------------------- */

enum { MESSAGE = 16384 }; /* bytes: the settings of a run take about 2,000 */

/* A message in the making; what does not fit is left out. */
typedef struct {
    uint8_t bytes[MESSAGE];
    size_t length;
} message;

enum { VARINT = 0, BITS_64 = 1, BYTES = 2, BITS_32 = 5 }; /* types on the wire */

static void put_bytes(message *m, const void *bytes, size_t n)
{
    if (n > MESSAGE - m->length)
        return;
    memcpy(m->bytes + m->length, bytes, n);
    m->length += n;
}

static void put_varint(message *m, uint64_t x)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; x >= 0x80; x >>= 7)
        bytes[n++] = (uint8_t)(x | 0x80);
    bytes[n++] = (uint8_t)x;
    put_bytes(m, bytes, n);
}

static void put_key(message *m, int field, int type)
{
    put_varint(m, (uint64_t)field << 3 | (uint64_t)type);
}

/* n bytes of a number, the lowest first. */
static void put_fixed(message *m, int field, int type, uint64_t bits)
{
    uint8_t bytes[8];
    const size_t n = type == BITS_32 ? 4 : 8;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)(bits >> (8 * i));
    put_key(m, field, type);
    put_bytes(m, bytes, n);
}

static void put_double(message *m, int field, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    put_fixed(m, field, BITS_64, bits);
}

static void put_float(message *m, int field, double x)
{
    const float narrow = (float)x;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    put_fixed(m, field, BITS_32, bits);
}

static void put_int(message *m, int field, int64_t x)
{
    put_key(m, field, VARINT);
    put_varint(m, (uint64_t)x);
}

static void put_part(message *m, int field, const void *bytes, size_t n)
{
    if (n + 16 > MESSAGE - m->length)
        return;
    put_key(m, field, BYTES);
    put_varint(m, n);
    put_bytes(m, bytes, n);
}

static void put_text(message *m, int field, const char *text)
{
    put_part(m, field, text, strlen(text));
}

static void put_message(message *m, int field, const message *part)
{
    put_part(m, field, part->bytes, part->length);
}

/* --- records ------------------------------------------------------------------------------------------------------ */

/* CRC-32C (Castagnoli), rotated and shifted so that a record may hold records with theirs. */
static uint32_t masked_crc(const uint8_t *bytes, size_t n)
{
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void write_low_first(FILE *f, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> (8 * i) & 0xff), f);
}

/* Length, its checksum, the message, its checksum. */
static void write_record(FILE *f, const message *m)
{
    uint8_t length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)m->length >> (8 * i));
    fwrite(length, 1, sizeof length, f);
    write_low_first(f, masked_crc(length, sizeof length), 4);
    fwrite(m->bytes, 1, m->length, f);
    write_low_first(f, masked_crc(m->bytes, m->length), 4);
}

/* --- events ------------------------------------------------------------------------------------------------------- */

/* Numbers of fields, as the .proto files have them. */
enum { EVENT_TIME = 1, EVENT_STEP = 2, EVENT_VERSION = 3, EVENT_SUMMARY = 5 };
enum { SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_NUMBER = 2, VALUE_METADATA = 9 };
enum { METADATA_PLUGIN = 1, PLUGIN_NAME = 1, PLUGIN_CONTENT = 2 };
enum { HPARAMS_START = 3, HPARAMS_END = 4 };
enum { START_HPARAMS = 1, START_TIME = 5, END_STATUS = 1, END_TIME = 2 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2, VALUE_OF_NUMBER = 2, VALUE_OF_TEXT = 3, VALUE_OF_BOOL = 4 };
enum { STATUS_SUCCESS = 1, STATUS_FAILURE = 2 };

static void write_value(output *out, double time, int64_t step, const message *value)
{
    message summary = {.length = 0}, event = {.length = 0};
    put_message(&summary, SUMMARY_VALUE, value);
    put_double(&event, EVENT_TIME, time);
    put_int(&event, EVENT_STEP, step);
    put_message(&event, EVENT_SUMMARY, &summary);
    write_record(out->file, &event);
}

void event_begin(output *out, double time)
{
    message event = {.length = 0};
    put_double(&event, EVENT_TIME, time);
    put_text(&event, EVENT_VERSION, "brain.Event:2");
    write_record(out->file, &event);
}

void event_scalar(output *out, double time, int64_t step, const char *name, double x)
{
    message value = {.length = 0};
    if (!isfinite(x))
        return;
    put_text(&value, VALUE_TAG, name);
    put_float(&value, VALUE_NUMBER, x);
    write_value(out, time, step, &value);
}

/* A message of the plugin for hyper-parameters, as a value of that tag. */
static void write_hparams(output *out, double time, const char *tag, int field, const message *part)
{
    message content = {.length = 0}, plugin = {.length = 0}, metadata = {.length = 0}, value = {.length = 0};
    put_message(&content, field, part);
    put_text(&plugin, PLUGIN_NAME, "hparams");
    put_message(&plugin, PLUGIN_CONTENT, &content);
    put_message(&metadata, METADATA_PLUGIN, &plugin);
    put_text(&value, VALUE_TAG, tag);
    put_message(&value, VALUE_METADATA, &metadata);
    write_value(out, time, 0, &value);
}

/* False: of a type that no setting has. */
static bool put_setting(message *m, const json_t *x)
{
    if (json_is_string(x))
        put_text(m, VALUE_OF_TEXT, json_string_value(x));
    else if (json_is_boolean(x))
        put_int(m, VALUE_OF_BOOL, json_is_true(x));
    else if (json_is_number(x))
        put_double(m, VALUE_OF_NUMBER, json_number_value(x));
    else
        return false;
    return true;
}

void event_settings(output *out, double time, const json_t *settings)
{
    message start = {.length = 0};
    const char *key;
    json_t *x;
    json_object_foreach((json_t *)settings, key, x)
    {
        message value = {.length = 0}, entry = {.length = 0};
        if (!put_setting(&value, x))
            continue;
        put_text(&entry, ENTRY_KEY, key);
        put_message(&entry, ENTRY_VALUE, &value);
        put_message(&start, START_HPARAMS, &entry);
    }
    put_double(&start, START_TIME, time);
    write_hparams(out, time, "_hparams_/session_start_info", HPARAMS_START, &start);
}

void event_end(output *out, double time, bool well)
{
    message end = {.length = 0};
    put_int(&end, END_STATUS, well ? STATUS_SUCCESS : STATUS_FAILURE);
    put_double(&end, END_TIME, time);
    write_hparams(out, time, "_hparams_/session_end_info", HPARAMS_END, &end);
}
